import { formatCount } from "@/app/_lib/format";
import { stockOnText } from "@/app/_lib/shop/shop-text";
import { type ProductView, percentOf, unitShares } from "@/app/_lib/shop/views";
import styles from "./unit-table.module.css";

/** Seller's view: units by state, and the effect of reducing the stock at order or at payment. */
export function UnitTable({ view }: { view: ProductView }) {
  const { product, orders, drift } = view;
  const shares = unitShares(product.stock, orders);
  const width = (part: number) => ({ width: `${percentOf(part, shares.total)}%` });
  return (
    <section className={styles.units} aria-labelledby="units">
      <div className={styles.head}>
        <h2 id="units">Where the units are</h2>
        <p className="muted">
          stock reduced at <b>{product.stockOn}</b>
        </p>
      </div>
      <div className={styles.bar} aria-hidden="true">
        <span className={styles.paid} style={width(shares.paid)} />
        <span className={styles.reserved} style={width(shares.reserved)} />
      </div>
      <div className={styles.columns}>
        <table className={styles.table}>
          <caption className="visually-hidden">Units of {product.name}</caption>
          <tbody>
            <Row mark={styles.paid} name="Paid" value={orders.paidUnits} />
            <Row
              mark={styles.reserved}
              name="Reserved by unpaid orders"
              value={orders.pendingUnits}
              testId="reserved"
            />
            <Row mark={styles.free} name="In stock" value={product.stock} />
            <Row name="In unpaid orders without a reservation" value={orders.waitingUnits} testId="waiting" />
          </tbody>
        </table>
        <table className={styles.table}>
          <caption className="visually-hidden">Outcomes of orders of {product.name}</caption>
          <tbody>
            <Row name="Failed payments" value={orders.failedPayments} testId="failed-payments" />
            <Row name="Sold out at payment" value={orders.soldOutAtPayment} />
            <Row name="Units in cancelled orders" value={orders.cancelledUnits} />
            <Row name="Units in expired orders" value={orders.expiredUnits} />
          </tbody>
        </table>
      </div>
      <p className={styles.words}>{stockOnText(product, orders)}</p>
      {drift.map((counter) => (
        <p key={counter.keptIn} className={styles.words}>
          The counter in {counter.keptIn} shows <b className="mono">{formatCount(counter.counter)}</b> units in stock,{" "}
          {counter.drift === 0
            ? "the same as PostgreSQL."
            : `a drift of ${formatCount(counter.drift)} from PostgreSQL.`}
        </p>
      ))}
    </section>
  );
}

interface RowProps {
  readonly name: string;
  readonly value: number;
  /** CSS class of its part of the bar, if it has one. */
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
