import { type CheckGroup, type CheckRow, checkGroups } from "@/app/_lib/checks";
import { readEvidence } from "@/app/_lib/lab-data";
import type { RunDocument } from "@/lib/runs/document";
import { FindingLink } from "../timeline/finding-selection";
import styles from "./check-table.module.css";

/** Every check of a run, completed with the findings of its history. */
export async function CheckSection({ document }: { document: RunDocument }) {
  return <CheckTable groups={checkGroups(document, await readEvidence(document))} />;
}

/** Every check with its result, or the reason why it does not apply. */
export function CheckTable({ groups }: { groups: readonly CheckGroup[] }) {
  const rows = groups.flatMap((group) => group.rows);
  const found = rows.filter(({ isAlarm }) => isAlarm).length;
  const skipped = rows.filter(({ result }) => result === null).length;
  return (
    <section aria-label="The checks" data-testid="checks">
      <header className={styles.head}>
        <h2>The checks</h2>
        <p className={styles.aside}>
          {found === 0 ? "no violations" : `${found} of ${rows.length} found violations`}
          {skipped > 0 ? `, ${skipped} not applicable` : ""}
        </p>
      </header>
      <div className={styles.groups}>
        {groups.map(({ title, rows: members }) => (
          <table key={title} className={styles.table}>
            <caption>{title}</caption>
            <thead className="visually-hidden">
              <tr>
                <th scope="col">check</th>
                <th scope="col">found</th>
              </tr>
            </thead>
            <tbody>
              {members.map((row) => (
                <Row key={row.id} row={row} />
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </section>
  );
}

function Row({ row: { id, label, note, result, isAlarm, finding } }: { row: CheckRow }) {
  return (
    <tr className={isAlarm ? styles.alarm : undefined} data-check={id}>
      <th scope="row">
        {label} <span className={styles.note}>{note}</span>
      </th>
      <td className={result === null ? styles.none : "num"}>
        {result ?? "not applicable"}
        {finding === null ? null : (
          <span className={styles.first}>
            <FindingLink name={finding} label={`${label}: show the first finding`}>
              show first
            </FindingLink>
          </span>
        )}
      </td>
    </tr>
  );
}
