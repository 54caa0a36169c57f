import { formatCount } from "@/app/_lib/format";
import { stockOnText } from "@/app/_lib/shop/shop-text";
import { type ProductView, percentOf, unitShares } from "@/app/_lib/shop/views";
import styles from "./unit-table.module.css";

/** The seller's view: where the units are, and what taking them at the order or at the payment does to them. */
export function UnitTable({ view }: { view: ProductView }) {
  const { product, orders, drift } = view;
  const shares = unitShares(product.stock, orders);
  const width = (part: number) => ({ width: `${percentOf(part, shares.total)}%` });
  return (
    <section className={styles.units} aria-labelledby="units">
      <div className={styles.head}>
        <h2 id="units">Where the units are</h2>
        <p className="muted">
          taken at the <b>{product.stockOn}</b>
        </p>
      </div>
      <div className={styles.bar} aria-hidden="true">
        <span className={styles.paid} style={width(shares.paid)} />
        <span className={styles.blocked} style={width(shares.blocked)} />
      </div>
      <div className={styles.columns}>
        <table className={styles.table}>
          <caption className="visually-hidden">Units of {product.name}</caption>
          <tbody>
            <Row mark={styles.paid} name="Paid" value={orders.paidUnits} />
            <Row mark={styles.blocked} name="Blocked by unpaid orders" value={orders.pendingUnits} testId="blocked" />
            <Row mark={styles.free} name="Left" value={product.stock} />
            <Row name="Wished for in unpaid orders, nothing set aside" value={orders.waitingUnits} testId="waiting" />
          </tbody>
        </table>
        <table className={styles.table}>
          <caption className="visually-hidden">What came of orders of {product.name}</caption>
          <tbody>
            <Row name="Payments that failed" value={orders.failedPayments} testId="failed-payments" />
            <Row name="Selected “sold out” when paying" value={orders.soldOutAtPayment} />
            <Row name="Units in cancelled orders" value={orders.cancelledUnits} />
            <Row name="Units in expired orders" value={orders.expiredUnits} />
          </tbody>
        </table>
      </div>
      <p className={styles.words}>{stockOnText(product, orders)}</p>
      {drift.map((counter) => (
        <p key={counter.keptIn} className={styles.words}>
          Also counted in {counter.keptIn}: <b className="mono">{formatCount(counter.counter)}</b> left there,{" "}
          {counter.drift === 0 ? "as in PostgreSQL." : `${formatCount(counter.drift)} off PostgreSQL's.`}
        </p>
      ))}
    </section>
  );
}

interface RowProps {
  readonly name: string;
  readonly value: number;
  /** How its part of the bar looks; absent: it has none. */
  readonly mark?: string | undefined;
  readonly testId?: string;
}

function Row({ name, value, mark, testId }: RowProps) {
  return (
    <tr>
      <th scope="row">
        {mark === undefined ? null : <span className={`${styles.mark} ${mark}`} aria-hidden="true" />}
        {name}
      </th>
      <td className="num" data-testid={testId}>
        {formatCount(value)}
      </td>
    </tr>
  );
}
