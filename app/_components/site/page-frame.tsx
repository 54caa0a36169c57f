import type { ReactNode } from "react";
import styles from "./page-frame.module.css";

/** Page layout: title, lead sentence, content. */
export function PageFrame({ title, lead, children }: { title: ReactNode; lead: ReactNode; children: ReactNode }) {
  return (
    <main className={styles.page} id="main">
      <header className={styles.head}>
        <h1>{title}</h1>
        <p className="muted">{lead}</p>
      </header>
      {children}
    </main>
  );
}
