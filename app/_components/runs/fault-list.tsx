import { durationText } from "@/app/_lib/format";
import type { RunSeries } from "@/app/_lib/run-series";
import { timeText } from "@/app/_lib/time-axis";
import type { RunDocument } from "@/lib/runs/document";
import styles from "./fault-list.module.css";

interface FaultListProps {
  readonly faults: RunDocument["faults"];
  /** In the order of the faults; null if no purchase waited for the lock. */
  readonly recovery: RunDocument["recovery"];
  readonly series: RunSeries;
}

function recoveryText(recovery: NonNullable<RunDocument["recovery"]>[number] | undefined): string {
  if (!recovery) return "";
  const { nextGrantMs, unserved, watchedMs } = recovery;
  if (nextGrantMs !== null) return `Next grant after ${durationText(nextGrantMs)}.`;
  return `Blocked: no grant for ${durationText(watchedMs)}, ${unserved} purchases were not served.`;
}

/** Injected faults with their times on the charts and the proof that each one took effect. */
export function FaultList({ faults, recovery = [], series }: FaultListProps) {
  if (faults.length === 0) return null;
  const { axis, bands } = series;
  return (
    <section className={styles.block} aria-label="Faults">
      <h2>Faults</h2>
      <ul>
        {faults.map(({ faultId, fromNs, proof }, index) => {
          const band = bands[index];
          return (
            <li key={`${faultId} ${fromNs}`}>
              <code>{faultId}</code>{" "}
              {band ? (
                <span className={styles.when}>
                  {timeText(axis, band.fromS)} to {timeText(axis, band.toS)}
                </span>
              ) : null}{" "}
              {proof} {recoveryText(recovery[index])}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
