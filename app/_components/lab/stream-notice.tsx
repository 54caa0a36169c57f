"use client";

import type { RunView } from "@/app/_lib/run-view";
import button from "../ui/button.module.css";
import styles from "./run-panel.module.css";

/** Says that the live figures are late, while the page has no connection to the lab. */
export function StreamNotice({ view, onReconnect }: { view: RunView; onReconnect: () => void }) {
  if (view.phase !== "running" || view.stream === "open" || view.stream === "closed") return null;
  return (
    <p className={styles.notice} role="status">
      {view.stream === "lost" ? (
        "Lost the connection to the lab. The sale continues; the page is reconnecting and will load the missing samples."
      ) : (
        <>
          The lab has not answered for a minute.{" "}
          <button type="button" className={button.link} onClick={onReconnect}>
            Try again
          </button>
        </>
      )}
    </p>
  );
}
