import { type CheckGroup, type CheckRow, checkGroups, checkSummary } from "@/app/_lib/checks";
import { findingTimeText } from "@/app/_lib/finding-text";
import { readEvidence } from "@/app/_lib/lab-data";
import { type Tone, toneOf } from "@/app/_lib/verdict";
import type { RunDocument } from "@/lib/runs/document";
import { FindingLink } from "../timeline/finding-selection";
import styles from "./check-table.module.css";

/** Every check of a run, completed with the findings of its history. */
export async function CheckSection({ document }: { document: RunDocument }) {
  return <CheckTable groups={checkGroups(document, await readEvidence(document))} tone={toneOf(document)} />;
}

/** Every check with its result, or the reason why it does not apply. */
export function CheckTable({ groups, tone }: { groups: readonly CheckGroup[]; tone: Tone }) {
  return (
    <section aria-label="The checks" data-testid="checks">
      <header className={styles.head}>
        <h2>The checks</h2>
        <p className={styles.aside}>{checkSummary(groups, tone)}</p>
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

function Row({ row: { id, label, note, result, absence, isAlarm, first } }: { row: CheckRow }) {
  return (
    <tr className={isAlarm ? styles.alarm : undefined} data-check={id}>
      <th scope="row">
        {label} <span className={styles.note}>{note}</span>
      </th>
      <td className={result === null ? styles.none : "num"}>
        {result ?? absence}
        {first === null ? null : (
          <span className={styles.first}>
            <FindingLink name={first.name} label={`${label}: show the first finding`}>
              {first.atUs === null ? "show" : `first at ${findingTimeText(first.atUs)}`}
            </FindingLink>
          </span>
        )}
      </td>
    </tr>
  );
}
