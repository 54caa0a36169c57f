import { LabLink } from "@/app/_components/ui/lab-link";
import type { StrategyFault } from "@/app/_lib/strategies/strategy-faults";
import { toneOf } from "@/app/_lib/verdict";
import type { RunDocument } from "@/lib/runs/document";
import { EffectWord } from "../ui/effect-word";
import { VerdictWord } from "../ui/verdict-word";
import { When } from "../ui/when";
import styles from "./fault-table.module.css";

interface FaultTableProps {
  readonly strategy: string;
  readonly faults: readonly StrategyFault[];
  /** The newest finished run of the strategy with each fault. */
  readonly newest: ReadonlyMap<string, RunDocument>;
}

/** Each fault that applies, with what to expect and why; those that do not apply are folded. */
export function FaultTable({ strategy, faults, newest }: FaultTableProps) {
  const applicable = faults.filter(({ expected }) => expected !== "not applicable");
  const others = faults.filter(({ expected }) => expected === "not applicable");
  return (
    <>
      {applicable.length === 0 ? null : (
        <table className={styles.table}>
          <caption className="visually-hidden">Expected effect of each fault on {strategy}</caption>
          <thead>
            <tr>
              <th scope="col">fault</th>
              <th scope="col">expected</th>
              <th scope="col">why</th>
              <th scope="col">newest run in this lab</th>
              <th scope="col">
                <span className="visually-hidden">try it</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {applicable.map((fault) => (
              <FaultRow key={fault.id} fault={fault} run={newest.get(fault.id)} />
            ))}
          </tbody>
        </table>
      )}
      {others.length === 0 ? null : <Others faults={others} />}
    </>
  );
}

function FaultRow({ fault, run }: { fault: StrategyFault; run: RunDocument | undefined }) {
  const { id, does, expected, reason, tryHref } = fault;
  return (
    <tr>
      <th scope="row">
        <code className={styles.id}>{id}</code>
        <span className={styles.does}>{does}</span>
      </th>
      <td data-label="expected">{expected === "not applicable" ? null : <EffectWord effect={expected} />}</td>
      <td data-label="why">{reason}</td>
      <td data-label="newest run">
        {run === undefined ? (
          <span className="muted">none yet</span>
        ) : (
          <>
            <LabLink href={`/runs/${run.id}`} className={styles.run}>
              <VerdictWord tone={toneOf(run)} />
            </LabLink>
            <span className={`mono ${styles.when}`}>
              <When epochMs={run.startedAtEpochMs} />
            </span>
          </>
        )}
      </td>
      <td>
        {tryHref === null ? null : (
          <LabLink href={tryHref} className={styles.try} aria-label={`Try ${id} in the Lab`}>
            Try it
          </LabLink>
        )}
      </td>
    </tr>
  );
}

function Others({ faults }: { faults: readonly StrategyFault[] }) {
  return (
    <details className={styles.others}>
      <summary>
        {faults.length} {faults.length === 1 ? "fault does" : "faults do"} not apply
      </summary>
      <ul>
        {faults.map(({ id, reason }) => (
          <li key={id}>
            <code>{id}</code>: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
