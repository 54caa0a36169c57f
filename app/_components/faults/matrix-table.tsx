import { type CellView, COLUMNS, type RowView } from "@/app/_lib/fault-matrix-view";
import { LabLink } from "../ui/lab-link";
import styles from "./matrix.module.css";

function Cell({ strategy, cell }: { strategy: string; cell: CellView }) {
  const { fault, kind, word, detail, expected, reason, differs, href } = cell;
  if (href === null) {
    return (
      <td className={styles.cell} data-kind={kind} title={`Does not apply: ${reason}`}>
        <span aria-hidden="true">{word}</span>
        <span className="visually-hidden">does not apply: {reason}</span>
      </td>
    );
  }
  return (
    <td className={styles.cell} data-kind={kind} data-differs={differs || undefined}>
      <LabLink
        href={href}
        title={`${strategy}, ${fault ?? "control"}. Expected ${expected}: ${reason}`}
        scroll={!href.startsWith("/faults")}
      >
        <span className={styles.word}>
          <span className={styles.mark} aria-hidden="true" />
          {word}
        </span>
        {detail === "" ? null : <span className={styles.detail}>{detail}</span>}
        {differs ? <span className={styles.detail}>expected {expected}</span> : null}
      </LabLink>
    </td>
  );
}

/** One row per strategy and one column per fault. It scrolls inside its box, with the names fixed. */
export function MatrixTable({ rows }: { rows: readonly RowView[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard.
    <section className={styles.box} aria-label="Fault matrix" tabIndex={0}>
      <table className={styles.matrix}>
        <caption className="visually-hidden">Measured result of each strategy under each fault</caption>
        <thead>
          <tr>
            <th scope="col">strategy</th>
            {COLUMNS.map((fault) => (
              <th key={fault} scope="col">
                {fault ?? "control"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ strategy, cells }) => (
            <tr key={strategy}>
              <th scope="row">
                <LabLink href={`/strategies/${strategy}`}>{strategy}</LabLink>
              </th>
              {cells.map((cell) => (
                <Cell key={cell.fault} strategy={strategy} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
