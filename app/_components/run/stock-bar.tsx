import type { CSSProperties } from "react";
import { formatCount } from "@/app/_lib/format";
import { stockBarShares } from "@/app/_lib/stock-bar";
import styles from "./stock-bar.module.css";

/** Orders against stock as a bar; orders beyond the stock are hatched. */
export function StockBar({ initial, orders, oversold }: { initial: number; orders: number; oversold: number }) {
  const shares = stockBarShares(initial, orders);
  const alarm = oversold > 0;
  return (
    <div>
      <div className={styles.bar} aria-hidden="true">
        <span className={styles.track} style={{ width: `${shares.end}%` }} />
        <span className={styles.sold} style={{ width: `${shares.sold}%` }} />
        <span className={styles.beyond} style={{ left: `${shares.end}%`, width: `${shares.beyond}%` }} />
        <span className={styles.end} style={{ left: `${shares.end}%` }} />
      </div>
      <p className={styles.words}>
        <span
          className={styles.within}
          data-wide={shares.end > 50}
          style={{ "--end": `${shares.end}%` } as CSSProperties}
        >
          <span>
            <b>{formatCount(initial)}</b> in stock
          </span>
          <span>
            <b>{formatCount(orders)}</b> {orders === 1 ? "order" : "orders"}
          </span>
        </span>
        {alarm ? (
          <span className={styles.alarm}>
            <b>+{formatCount(oversold)}</b> beyond the stock
          </span>
        ) : (
          <span>
            <b>0</b> beyond the stock
          </span>
        )}
      </p>
    </div>
  );
}
