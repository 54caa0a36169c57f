import { LabLink } from "@/app/_components/ui/lab-link";
import { settingsLine } from "@/app/_lib/compare-rows";
import { formatCount, formatMsCell } from "@/app/_lib/format";
import { toneOf } from "@/app/_lib/verdict";
import type { RunDocument } from "@/lib/runs/document";
import { VerdictWord } from "../ui/verdict-word";
import { When } from "../ui/when";
import styles from "./runs-table.module.css";

function RunRow({ run }: { run: RunDocument }) {
  const ended = run.status === "finished";
  const { oversold } = run.violations;
  return (
    <tr>
      <th scope="row" className={styles.id}>
        <LabLink href={`/runs/${run.id}`} className="mono">
          {run.id}
        </LabLink>
        <span className={styles.settings}>{settingsLine(run.config)}</span>
      </th>
      <td className={`mono ${styles.when}`}>
        <When epochMs={run.startedAtEpochMs} />
      </td>
      <td className={`mono ${styles.strategy}`}>{run.strategy}</td>
      <td className={styles.verdict}>
        <VerdictWord tone={toneOf(run)} />
      </td>
      <td className={`num ${styles.oversold}`} data-alarm={ended && oversold > 0}>
        {ended ? formatCount(oversold) : "–"}
      </td>
      <td className={`num ${styles.p99}`}>{formatMsCell(ended ? run.latencyMs.p99 : null)}</td>
    </tr>
  );
}

export function RunsTable({ runs }: { runs: readonly RunDocument[] }) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">Runs, newest first</caption>
      <thead>
        <tr>
          <th scope="col">run</th>
          <th scope="col">when</th>
          <th scope="col">strategy</th>
          <th scope="col">verdict</th>
          <th scope="col" className="num">
            oversold
          </th>
          <th scope="col" className="num">
            p99 <span className="unit">ms</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </tbody>
    </table>
  );
}
