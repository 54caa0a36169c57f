"use client";

import styles from "./connection-line.module.css";
import { useShop } from "./shop-provider";

/** Says when the page shows what it knew last, and that it is looking. It takes no place while all is well. */
export function ConnectionLine() {
  const { lostAtEpochMs } = useShop();
  return (
    <div role="status">
      {lostAtEpochMs === null ? null : (
        <p className={styles.line}>
          <strong>Offline.</strong> The shop has not answered since {new Date(lostAtEpochMs).toTimeString().slice(0, 8)}
          ; the figures are as of then. The page keeps looking and comes back by itself.
        </p>
      )}
    </div>
  );
}
