import { CHECK_COUNT, type Check, violationSummary } from "@/app/_lib/checks";
import { formatCount, NO_VALUE } from "@/app/_lib/format";
import type { Tone } from "@/app/_lib/verdict";
import styles from "./tables.module.css";

interface CheckListProps {
  readonly checks: readonly Check[];
  readonly pending: boolean;
  readonly tone: Tone;
}

/** The checks and how many violations each one found; no counts while the sale runs. */
export function CheckList({ checks, pending, tone }: CheckListProps) {
  const found = checks.filter(({ count }) => (count ?? 0) > 0).length;
  const summary = violationSummary({ found, of: CHECK_COUNT, tone });
  const isBlank = (count: number | null) => pending || (tone === "failed" && count === 0);
  return (
    <section className={styles.block} aria-label="The checks">
      <header className={styles.head}>
        <h2>The checks</h2>
        <p className={styles.aside}>{pending ? "run after the sale" : summary}</p>
      </header>
      <table className={styles.table}>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">check</th>
            <th scope="col">found</th>
          </tr>
        </thead>
        <tbody>
          {checks.map((check) => {
            const alarm = !pending && (check.count ?? 0) > 0;
            return (
              <tr key={check.id} className={alarm ? styles.alarmRow : undefined}>
                <th scope="row" title={check.meaning}>
                  {check.label}
                </th>
                <td className={alarm ? `num ${styles.alarmCell}` : "num"}>
                  {isBlank(check.count) ? NO_VALUE : formatCount(check.count)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
