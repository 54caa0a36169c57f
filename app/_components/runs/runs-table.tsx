"use client";

import { useCallback } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import { usePicks } from "@/app/_hooks/use-picks";
import { settingsLine } from "@/app/_lib/compare-rows";
import { compareHref } from "@/app/_lib/compare-selection";
import { formatCount, formatMsCell, NO_VALUE } from "@/app/_lib/format";
import type { ListedRun } from "@/app/_lib/listed-run";
import { type RunListQuery, runListHref } from "@/app/_lib/run-list-href";
import { toneOf } from "@/app/_lib/verdict";
import { PickBar } from "../compare/pick-bar";
import { Unbroken } from "../ui/unbroken";
import { VerdictWord } from "../ui/verdict-word";
import { When } from "../ui/when";
import { type FilterChoices, RunFilters } from "./run-filters";
import { RunPager } from "./run-pager";
import styles from "./runs-table.module.css";

interface RunRowProps {
  readonly run: ListedRun;
  readonly isPicked: boolean;
  readonly onPick: (id: string) => void;
}

function RunRow({ run, isPicked, onPick }: RunRowProps) {
  const isJudged = run.status !== "running" && run.status !== "failed";
  const { oversold } = run;
  return (
    <tr data-picked={isPicked}>
      <td className={styles.pick}>
        {run.status === "finished" ? (
          <input
            type="checkbox"
            aria-label={`Select ${run.strategy}, run ${run.id}`}
            checked={isPicked}
            onChange={() => onPick(run.id)}
          />
        ) : null}
      </td>
      <th scope="row" className={styles.id}>
        <LabLink href={`/runs/${run.id}`} className={run.name === undefined ? "mono" : styles.name}>
          {run.name ?? run.id}
        </LabLink>
        <span className={styles.settings}>
          <Unbroken text={settingsLine(run.config)} />
        </span>
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
      <td className={styles.why}>
        <Unbroken text={run.why} />
      </td>
      <td className={`num ${styles.oversold}`} data-alarm={oversold > 0}>
        {isJudged || oversold > 0 ? formatCount(oversold) : NO_VALUE}
      </td>
      <td className={`num ${styles.p99}`}>{formatMsCell(run.buyersP99Ms)}</td>
    </tr>
  );
}

interface RunsTableProps {
  readonly runs: readonly ListedRun[];
  /** Runs on all pages. */
  readonly total: number;
  readonly pageSize: number;
  readonly query: RunListQuery;
  readonly choices: FilterChoices;
}

/** Runs, newest first; selected runs can be compared, also from several pages. */
export function RunsTable({ runs, total, pageSize, query, choices }: RunsTableProps) {
  const hrefOfPicks = useCallback((picked: readonly string[]) => runListHref({ ...query, picked }), [query]);
  const { picked, toggle, clear } = usePicks(query.picked, hrefOfPicks);
  const shown = { ...query, picked };
  return (
    <>
      <RunFilters query={shown} choices={choices} />
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
            <th scope="col" className={styles.why}>
              why
            </th>
            <th scope="col" className="num">
              oversold
            </th>
            <th scope="col" className="num" title="As the buyers saw it, measured by the load generator">
              buyers' p99 <span className="unit">ms</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} isPicked={picked.includes(run.id)} onPick={toggle} />
          ))}
        </tbody>
      </table>
      {runs.length === 0 ? <p className="muted">No run matches these filters.</p> : null}
      <RunPager query={shown} size={pageSize} total={total} />
      <PickBar noun="run" picked={picked} href={compareHref({ runs: picked })} onClear={clear} />
    </>
  );
}
