"use client";

import { LabLink } from "@/app/_components/ui/lab-link";
import { usePicks } from "@/app/_hooks/use-picks";
import { settingsLine } from "@/app/_lib/compare-rows";
import { compareHref, selectionQuery } from "@/app/_lib/compare-selection";
import { formatCount, formatMsCell } from "@/app/_lib/format";
import { toneOf } from "@/app/_lib/verdict";
import type { RunDocument } from "@/lib/runs/document";
import { PickBar } from "../compare/pick-bar";
import { VerdictWord } from "../ui/verdict-word";
import { When } from "../ui/when";
import styles from "./runs-table.module.css";

/** The fields of a run that a row shows; sending fifty whole documents would make the page too large. */
export type ListedRun = Pick<
  RunDocument,
  "id" | "strategy" | "config" | "startedAtEpochMs" | "status" | "verdict" | "violations" | "latencyMs"
>;

interface RunRowProps {
  readonly run: ListedRun;
  readonly isPicked: boolean;
  readonly onPick: (id: string) => void;
}

function RunRow({ run, isPicked, onPick }: RunRowProps) {
  const ended = run.status === "finished";
  const { oversold } = run.violations;
  return (
    <tr data-picked={isPicked}>
      <td className={styles.pick}>
        {ended ? (
          <input
            type="checkbox"
            aria-label={`Select ${run.strategy}, run ${run.id}`}
            checked={isPicked}
            onChange={() => onPick(run.id)}
          />
        ) : null}
      </td>
      <th scope="row" className={styles.id}>
        <LabLink href={`/runs/${run.id}`} className="mono">
          {run.id}
        </LabLink>
        <span className={styles.settings}>{settingsLine(run.config)}</span>
      </th>
      <td className={`mono ${styles.when}`}>
        <When epochMs={run.startedAtEpochMs} />
        {run.config.sweep === undefined ? null : (
          <LabLink className={styles.sweep} href={compareHref({ sweep: run.config.sweep.id })}>
            sweep {run.config.sweep.id}
          </LabLink>
        )}
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

const hrefOfPicks = (runs: readonly string[]) => {
  const query = selectionQuery({ runs });
  return query === "" ? "/runs" : `/runs?${query}`;
};

/** Runs, newest first; selected runs can be compared. */
export function RunsTable({ runs, picked: initial }: { runs: readonly ListedRun[]; picked: readonly string[] }) {
  const { picked, toggle, clear } = usePicks(initial, hrefOfPicks);
  return (
    <>
      <table className={styles.table}>
        <caption className="visually-hidden">Runs, newest first</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.pick}>
              <span className="visually-hidden">select</span>
            </th>
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
            <RunRow key={run.id} run={run} isPicked={picked.includes(run.id)} onPick={toggle} />
          ))}
        </tbody>
      </table>
      <PickBar noun="run" picked={picked} href={compareHref({ runs: picked })} onClear={clear} />
    </>
  );
}
