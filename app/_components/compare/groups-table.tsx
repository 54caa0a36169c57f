"use client";

import { LabLink } from "@/app/_components/ui/lab-link";
import {
  comparedWith,
  type GroupColumn,
  type GroupSorting,
  type Metric,
  type RunGroup,
  sortGroups,
} from "@/app/_lib/compare-groups";
import { formatCount, formatMsCell, formatRate, NO_VALUE } from "@/app/_lib/format";
import { comparisonWords } from "@/lib/runs/comparison";
import type { MedianInterval } from "@/lib/runs/median-interval";
import { CurveMark } from "../chart/percentile-curve";
import { VerdictWord } from "../ui/verdict-word";
import { LATENCY_HINT } from "./compare-table";
import styles from "./groups-table.module.css";
import { SortHead } from "./sort-head";
import { UnrankedHead } from "./unranked-head";

interface ColumnSpec {
  readonly id: GroupColumn;
  readonly label: string;
  readonly unit?: string;
  readonly hint: string;
  readonly first: GroupSorting["direction"];
  readonly format?: (value: number) => string;
}

const COLUMNS: readonly ColumnSpec[] = [
  { id: "strategy", label: "strategy", hint: "In the order of selection", first: "ascending" },
  { id: "runs", label: "runs", hint: "Repeats with the same settings", first: "descending" },
  { id: "verdict", label: "verdict", hint: "What the checkers conclude", first: "ascending" },
  {
    id: "oversold",
    label: "oversold",
    hint: "Orders beyond the initial stock",
    first: "descending",
    format: formatCount,
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

const METRIC_COLUMNS = COLUMNS.filter(({ id }) => ["soldPerSecond", "p50", "p99", "wait"].includes(id));

/** `38.1 to 44.0`; empty for a single run or if all values round to the same text. */
function rangeText({ low, high, runs }: MedianInterval, format: (value: number) => string): string {
  const [from, to] = [format(low), format(high)];
  return runs < 2 || from === to ? "" : `${from} to ${to}`;
}

interface CellProps {
  readonly column: ColumnSpec;
  readonly value: MedianInterval | null;
  /** Result of the comparison with the baseline; null for the baseline itself. */
  readonly comparison?: ReturnType<typeof comparedWith>;
}

function Cell({ column, value, comparison }: CellProps) {
  const { format = String, id, label, unit } = column;
  const isAlarm = id === "oversold" && value !== null && value.high > 0;
  const kind = comparison?.kind;
  return (
    <td className="num" data-label={`${label}${unit ? ` ${unit}` : ""}`}>
      <span className={isAlarm ? styles.alarm : styles.median}>{value === null ? NO_VALUE : format(value.median)}</span>
      <span className={styles.range}>{value === null ? "" : rangeText(value, format)}</span>
      {comparison ? (
        <span className={styles.comparison} data-kind={kind}>
          {kind === "faster" ? "▲ " : kind === "slower" ? "▼ " : ""}
          {comparisonWords(comparison)}
        </span>
      ) : null}
    </td>
  );
}

interface RowProps {
  readonly group: RunGroup;
  readonly index: number;
  readonly baseline: RunGroup | null;
}

function Row({ group, index, baseline }: RowProps) {
  const [newest] = group.runs;
  const isBaseline = group.key === baseline?.key;
  return (
    <tr data-testid={`group-${group.key}`} data-baseline={isBaseline} data-ranked={group.isRanked}>
      <th scope="row" className={styles.name}>
        <span className={styles.label}>
          <CurveMark index={index} />
          <LabLink href={`/strategies/${group.strategy}`} className="mono">
            {group.strategy}
          </LabLink>
        </span>
        {group.difference === "" ? null : <span className={styles.difference}>{group.difference}</span>}
        {group.why === null ? null : <span className={styles.difference}>{group.why}</span>}
        {isBaseline ? <span className={styles.difference}>baseline of the comparison</span> : null}
      </th>
      <td className="num" data-label="runs">
        {group.runs.length}
      </td>
      <td className={styles.verdict} data-label="verdict">
        {group.verdict === null || newest === undefined ? (
          <span className="alarm">{disagreement(group)}</span>
        ) : (
          <LabLink href={`/runs/${newest.id}`} title="Open one of these runs">
            <VerdictWord tone={group.verdict} />
          </LabLink>
        )}
      </td>
      <Cell column={COLUMNS[3] as ColumnSpec} value={group.oversold} />
      {METRIC_COLUMNS.map((column) => {
        const metric = column.id as Metric;
        return (
          <Cell
            key={metric}
            column={column}
            value={group.metrics[metric]}
            comparison={comparedWith(group, baseline, metric)}
          />
        );
      })}
    </tr>
  );
}

/** `unsafe 2 of 3`: the worst verdict of the repeats and how many have it. */
function disagreement({ runs }: RunGroup): string {
  const worst = (["unsafe", "inconclusive", "safe"] as const).find((one) =>
    runs.some(({ verdict }) => verdict === one),
  );
  return `${worst} ${runs.filter(({ verdict }) => verdict === worst).length} of ${runs.length}`;
}

interface GroupsTableProps {
  readonly groups: readonly RunGroup[];
  /** Null if no group is ranked. */
  readonly baseline: RunGroup | null;
  readonly sorting: GroupSorting;
  readonly onSort: (sorting: GroupSorting) => void;
}

/** Medians with their intervals: the safe groups compared with the baseline and sorted by any column, then the others. */
export function GroupsTable({ groups, baseline, sorting, onSort }: GroupsTableProps) {
  const sorted = sortGroups(groups, sorting);
  const unranked = sorted.filter((group) => !group.isRanked);
  const rowOf = (group: RunGroup) => (
    <Row key={group.key} group={group} index={groups.indexOf(group)} baseline={baseline} />
  );
  const sortBy = ({ id, first }: ColumnSpec) => {
    const opposite = sorting.direction === "ascending" ? "descending" : "ascending";
    onSort({ column: id, direction: sorting.column === id ? opposite : first });
  };
  return (
    <>
      <label className={styles.phoneSort}>
        Sort by{" "}
        <select
          value={sorting.column}
          onChange={(event) => {
            const column = COLUMNS.find(({ id }) => id === event.target.value);
            if (column) onSort({ column: column.id, direction: column.first });
          }}
        >
          {COLUMNS.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <table className={styles.table} data-testid="groups">
        <caption className="visually-hidden">
          Medians of the repeats with their intervals{baseline === null ? "" : `, compared with ${baseline.strategy}`}
        </caption>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <SortHead
                key={column.id}
                label={column.label}
                unit={column.unit}
                hint={column.hint}
                isNumber={column.format !== undefined || column.id === "runs"}
                direction={sorting.column === column.id ? sorting.direction : null}
                onSort={() => sortBy(column)}
              />
            ))}
          </tr>
        </thead>
        <tbody>{sorted.filter((group) => group.isRanked).map(rowOf)}</tbody>
        {unranked.length === 0 ? null : (
          <tbody data-testid="unranked">
            <UnrankedHead columns={COLUMNS.length} />
            {unranked.map(rowOf)}
          </tbody>
        )}
      </table>
    </>
  );
}
