"use client";

import styles from "./connection-line.module.css";
import { useShop } from "./shop-provider";

/** Says that the page shows old data while the shop does not answer. Takes no space otherwise. */
export function ConnectionLine() {
  const { lostAtEpochMs } = useShop();
  return (
    <div role="status" className={styles.region}>
      {lostAtEpochMs === null ? null : (
        <p className={styles.line}>
          <strong>{navigator.onLine ? "The shop does not answer." : "You are offline."}</strong> This page shows data
          from {new Date(lostAtEpochMs).toTimeString().slice(0, 8)} and updates when the shop answers again.
        </p>
      )}
    </div>
  );
}
