import { compareHref } from "@/app/_lib/compare-selection";
import { plural } from "@/app/_lib/format";
import type { SweepSummary } from "@/lib/runs/sweep";
import { LabLink } from "../ui/lab-link";
import { When } from "../ui/when";
import styles from "./sweep-list.module.css";

/** The newest sweeps, each with its progress and a link to its comparison. */
export function SweepList({ sweeps }: { sweeps: readonly SweepSummary[] }) {
  return (
    <section className={styles.block} aria-labelledby="sweeps" data-testid="sweeps">
      <h2 id="sweeps">Sweeps</h2>
      <ul className={styles.list}>
        {sweeps.map(({ id, strategies, repeats, startedAtEpochMs, done, total }) => (
          <li key={id}>
            <LabLink href={compareHref({ sweep: id })} className="mono">
              {id}
            </LabLink>
            <span className="mono">
              <When epochMs={startedAtEpochMs} />
            </span>
            <span className={styles.what}>
              {plural(strategies.length, "strategy", "strategies")}, {plural(repeats, "run")} of each
            </span>
            <span className="num">
              {done} of {total}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
