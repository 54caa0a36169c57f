import { CHECK_COUNT, type Check } from "@/app/_lib/checks";
import { formatCount, NO_VALUE } from "@/app/_lib/format";
import styles from "./tables.module.css";

/** The checks and how many violations each one found; no counts while the sale runs. */
export function CheckList({ checks, pending }: { checks: readonly Check[]; pending: boolean }) {
  const found = checks.filter(({ count }) => (count ?? 0) > 0).length;
  const summary = found === 0 ? "no violations" : `${found} of ${CHECK_COUNT} found violations`;
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
                  {pending ? NO_VALUE : formatCount(check.count)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
