import type { ReactNode } from "react";
import styles from "./notice.module.css";

/** A page that shows one message. */
export function Notice({ eyebrow, title, children }: { eyebrow: string; title: string; children: ReactNode }) {
  return (
    <main className={styles.notice} id="main">
      <p className="muted">{eyebrow}</p>
      <h1>{title}</h1>
      {children}
    </main>
  );
}
