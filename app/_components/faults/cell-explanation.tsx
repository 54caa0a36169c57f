import type { ExplainedCell } from "@/app/_lib/fault-matrix-view";
import styles from "./matrix.module.css";

/** Why a cell is expected to be what it is, what was measured, and the command that repeats it. */
export function CellExplanation({ cell }: { cell: ExplainedCell | null }) {
  if (cell === null) return null;
  const { title, measured, expected, notes, command } = cell;
  return (
    <section className={styles.explanation} aria-labelledby="explained-cell">
      <h2 id="explained-cell">{title}</h2>
      <dl>
        <dt>measured</dt>
        <dd>{measured ?? "not yet"}</dd>
        <dt>expected</dt>
        <dd>{expected}</dd>
        {notes.length === 0 ? null : <dt>evidence</dt>}
        {notes.map((note) => (
          <dd key={note}>{note}</dd>
        ))}
        <dt>repeat it</dt>
        <dd>
          <code>{command}</code>
        </dd>
      </dl>
    </section>
  );
}
