"use client";

import styles from "./connection-line.module.css";
import { useShop } from "./shop-provider";

/** Says when the page shows what it knew last, and that it is looking. It takes no place while all is well. */
export function ConnectionLine() {
  const { lostAtEpochMs } = useShop();
  return (
    <div role="status" className={styles.region}>
      {lostAtEpochMs === null ? null : (
        <p className={styles.line}>
          <strong>{navigator.onLine ? "The shop does not answer." : "You are offline."}</strong> What you see is as of{" "}
          {new Date(lostAtEpochMs).toTimeString().slice(0, 8)}. The page keeps looking and comes back by itself.
        </p>
      )}
    </div>
  );
}
