import { LabLink } from "@/app/_components/ui/lab-link";
import { byFamily, type CatalogueStrategy } from "@/app/_lib/strategy-catalogue";
import styles from "./not-run-yet.module.css";

/** Strategies without a run, by family; each links to the Lab with that strategy selected. */
export function NotRunYet({ strategies }: { strategies: readonly CatalogueStrategy[] }) {
  return (
    <section className={styles.block} aria-labelledby="not-run-yet" data-testid="not-run-yet">
      <h2 id="not-run-yet">
        Not run yet <span className={styles.count}>{strategies.length}</span>
      </h2>
      <dl className={styles.families}>
        {byFamily(strategies).map(({ family, label, strategies: members }) => (
          <div key={family} className={styles.family}>
            <dt>{label}</dt>
            {members.map(({ id, available, unavailableReason }) => (
              <dd key={id}>
                <LabLink href={`/?strategy=${id}`} className="mono" aria-label={`Run ${id}`}>
                  {id}
                </LabLink>
                {available ? null : <span className={styles.reason}>{unavailableReason}</span>}
              </dd>
            ))}
          </div>
        ))}
      </dl>
      <p className={styles.hint}>
        To run several at once: “Sweep several strategies” in the Lab, or <code>npm run lab -- sweep</code> in a
        terminal.
      </p>
    </section>
  );
}
