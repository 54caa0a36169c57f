"use client";

import { useMemo, useState } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import { usePicks } from "@/app/_hooks/use-picks";
import {
  type CommonSettings,
  type CompareColumn,
  type CompareRow,
  columnMax,
  figureOf,
  isSpeed,
  type Sorting,
  settingsLine,
  sortedParts,
} from "@/app/_lib/compare-rows";
import { compareHref } from "@/app/_lib/compare-selection";
import { formatCount, formatMsCell, formatRate, NO_VALUE } from "@/app/_lib/format";
import { toneOf, verdictText } from "@/app/_lib/verdict";
import { isRanked } from "@/lib/runs/comparison";
import type { RunDocument } from "@/lib/runs/document";
import { VerdictWord } from "../ui/verdict-word";
import styles from "./compare-table.module.css";
import { PickBar } from "./pick-bar";
import { SortHead } from "./sort-head";
import { UnrankedHead } from "./unranked-head";

interface ColumnSpec {
  readonly id: CompareColumn;
  readonly label: string;
  readonly unit?: string;
  readonly hint: string;
  /** Direction of the first sort: the most interesting values first. */
  readonly first: Sorting["direction"];
  readonly format?: (value: number | null) => string;
  /** A number above 0 is a violation. */
  readonly alarming?: boolean;
}

export const LATENCY_HINT = "As the buyers saw it, measured by the load generator";

const COLUMNS: readonly ColumnSpec[] = [
  { id: "strategy", label: "strategy", hint: "By family", first: "ascending" },
  { id: "verdict", label: "verdict", hint: "What the checkers conclude", first: "ascending" },
  {
    id: "oversold",
    label: "oversold",
    hint: "Orders beyond the initial stock",
    first: "descending",
    format: formatCount,
    alarming: true,
  },
  {
    id: "lostUpdates",
    label: "lost updates",
    hint: "Orders that the stock counter does not include",
    first: "descending",
    format: formatCount,
    alarming: true,
  },
  {
    id: "soldPerSecond",
    label: "deliverable",
    unit: "/s",
    hint: "Units sold per second that can be delivered: orders beyond the stock do not count",
    first: "descending",
    format: formatRate,
  },
  { id: "p50", label: "buyers' p50", unit: "ms", hint: LATENCY_HINT, first: "ascending", format: formatMsCell },
  { id: "p99", label: "buyers' p99", unit: "ms", hint: LATENCY_HINT, first: "ascending", format: formatMsCell },
  {
    id: "wait",
    label: "wait",
    unit: "ms",
    hint: "Median time that a purchase waited for the lock or spent on retries",
    first: "ascending",
    format: formatMsCell,
  },
];

const FIGURES = COLUMNS.filter((column) => column.format !== undefined);

function Cell({ run, column, max }: { run: RunDocument; column: ColumnSpec; max: number }) {
  const value = figureOf(run, column.id);
  const alarm = column.alarming === true && value !== null && value > 0;
  const share = value === null || max === 0 ? 0 : (value / max) * 100;
  const hasRank = isRanked(run) || !isSpeed(column.id);
  return (
    <td className="num" data-label={column.label} data-ranked={hasRank}>
      <span className={alarm ? styles.alarm : undefined}>
        {value === null || column.format === undefined ? NO_VALUE : column.format(value)}
        <span className={styles.phoneUnit}> {column.unit}</span>
      </span>
      {hasRank ? (
        <span className={styles.bar} data-alarm={alarm} aria-hidden="true">
          <span style={{ width: `${share}%` }} />
        </span>
      ) : null}
    </td>
  );
}

interface RowProps {
  readonly row: CompareRow;
  readonly maxima: ReadonlyMap<CompareColumn, number>;
  /** The settings of this run, if they differ from those of most runs. */
  readonly otherSettings: string | null;
  readonly isPicked: boolean;
  readonly onPick: (strategy: string) => void;
}

function Row({ row, maxima, otherSettings, isPicked, onPick }: RowProps) {
  const { strategy, run } = row;
  return (
    <tr
      data-testid={`compare-${strategy.id}`}
      data-verdict={run.verdict}
      data-picked={isPicked}
      data-differs={otherSettings !== null}
    >
      <td className={styles.pick}>
        <input
          type="checkbox"
          aria-label={`Select ${strategy.id}`}
          checked={isPicked}
          onChange={() => onPick(strategy.id)}
        />
      </td>
      <th scope="row" className={styles.name}>
        <LabLink href={`/strategies/${strategy.id}`} className="mono">
          {strategy.id}
        </LabLink>
        {isRanked(run) ? null : <span className={styles.settings}>{verdictText(run).lead}</span>}
        {otherSettings === null ? null : <span className={styles.settings}>{otherSettings}</span>}
      </th>
      <td className={styles.verdict}>
        <LabLink href={`/runs/${run.id}`} title="Open this run">
          <VerdictWord tone={toneOf(run)} />
        </LabLink>
      </td>
      {FIGURES.map((column) => (
        <Cell key={column.id} run={run} column={column} max={maxima.get(column.id) ?? 0} />
      ))}
    </tr>
  );
}

/** Warns if not all runs have the same settings, because their speed is then not comparable. */
function Caution({ common, count }: { common: CommonSettings | null; count: number }) {
  if (common?.count === count || count < 2) return null;
  return (
    <p className={styles.caution} data-testid="caution">
      {common === null
        ? "No two of these runs have the same settings. You can compare their verdicts, but not their speed."
        : `${common.count} of these runs used ${common.line}; compare the speed of those. Rows with a dashed edge used other settings, shown below the strategy.`}
    </p>
  );
}

function PhoneSorting({ sorting, onSort }: { sorting: Sorting; onSort: (column: ColumnSpec) => void }) {
  return (
    <label className={styles.phoneSort}>
      Sort by{" "}
      <select
        value={sorting.column}
        onChange={(event) => {
          const column = COLUMNS.find((one) => one.id === event.target.value);
          if (column !== undefined) onSort(column);
        }}
      >
        {COLUMNS.map((column) => (
          <option key={column.id} value={column.id}>
            {column.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface CompareTableProps {
  readonly rows: readonly CompareRow[];
  readonly common: CommonSettings | null;
  /** Strategies that the URL selects. */
  readonly picked: readonly string[];
}

const hrefOfPicks = (strategies: readonly string[]) => compareHref({ strategies });

/** The last run of every strategy: the safe ones sorted, with a bar for scale in each cell, then the others. Selected strategies can be compared. */
export function CompareTable({ rows, common, picked: initial }: CompareTableProps) {
  const { picked, toggle, clear } = usePicks(initial, hrefOfPicks);
  const [sorting, setSorting] = useState<Sorting>({ column: "strategy", direction: "ascending" });
  const { ranked, unranked } = useMemo(() => sortedParts(rows, sorting), [rows, sorting]);
  const maxima = useMemo(
    () => new Map(FIGURES.map(({ id }) => [id, columnMax(isSpeed(id) ? ranked : rows, id)])),
    [rows, ranked],
  );
  const sortBy = ({ id, first }: ColumnSpec) => {
    const opposite = sorting.direction === "ascending" ? "descending" : "ascending";
    setSorting({ column: id, direction: sorting.column === id ? opposite : first });
  };
  const rowOf = (row: CompareRow) => {
    const line = settingsLine(row.run.config);
    return (
      <Row
        key={row.strategy.id}
        row={row}
        maxima={maxima}
        otherSettings={rows.length < 2 || line === common?.line ? null : line}
        isPicked={picked.includes(row.strategy.id)}
        onPick={toggle}
      />
    );
  };
  return (
    <>
      <Caution common={common} count={rows.length} />
      <PhoneSorting sorting={sorting} onSort={sortBy} />
      <table className={styles.table} data-testid="compare">
        <caption className="visually-hidden">The last finished run of every strategy</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.pick}>
              <span className="visually-hidden">select</span>
            </th>
            {COLUMNS.map((column) => (
              <SortHead
                key={column.id}
                label={column.label}
                unit={column.unit}
                hint={column.hint}
                isNumber={column.format !== undefined}
                direction={sorting.column === column.id ? sorting.direction : null}
                onSort={() => sortBy(column)}
              />
            ))}
          </tr>
        </thead>
        <tbody>{ranked.map(rowOf)}</tbody>
        {unranked.length === 0 ? null : (
          <tbody data-testid="unranked">
            <UnrankedHead columns={COLUMNS.length + 1} />
            {unranked.map(rowOf)}
          </tbody>
        )}
      </table>
      <PickBar noun="strategy" nouns="strategies" picked={picked} href={hrefOfPicks(picked)} onClear={clear} />
    </>
  );
}
