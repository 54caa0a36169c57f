import type { CSSProperties } from "react";
import { formatCount } from "@/app/_lib/format";
import { stockBarShares } from "@/app/_lib/stock-bar";
import styles from "./stock-bar.module.css";

interface StockBarProps {
  readonly initial: number;
  readonly orders: number;
  /** Null: not judged. */
  readonly oversold: number | null;
}

/** Ordered units against stock as a bar; those beyond the stock are hatched. */
export function StockBar({ initial, orders, oversold }: StockBarProps) {
  const shares = stockBarShares(initial, orders);
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
            <b>{formatCount(orders)}</b> ordered
          </span>
        </span>
        {oversold === null ? null : (
          <span className={oversold > 0 ? styles.alarm : undefined}>
            <b>
              {oversold > 0 ? "+" : ""}
              {formatCount(oversold)}
            </b>{" "}
            beyond the stock
          </span>
        )}
      </p>
    </div>
  );
}
