import type { FaultBand } from "@/app/_lib/fault-bands";
import type { RunDocument } from "@/lib/runs/document";
import styles from "./fault-list.module.css";

/** What was done to the run, when, and how one knows that it took effect. */
export function FaultList({ faults, bands }: { faults: RunDocument["faults"]; bands: readonly FaultBand[] }) {
  if (faults.length === 0) return null;
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
                  {band.fromS.toFixed(2)} to {band.toS.toFixed(2)} s
                </span>
              ) : null}{" "}
              {proof}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
