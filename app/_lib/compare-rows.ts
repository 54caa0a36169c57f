import type { RunDocument } from "@/lib/runs/document";
import type { CatalogueStrategy } from "./catalogue";
import { formatCount, plural } from "./format";

export interface CompareRow {
  readonly strategy: CatalogueStrategy;
  /** The last finished run; null when the strategy was never run. */
  readonly run: RunDocument | null;
}

export type CompareColumn =
  | "strategy"
  | "verdict"
  | "oversold"
  | "lostUpdates"
  | "soldPerSecond"
  | "p50"
  | "p99"
  | "wait";

export interface Sorting {
  readonly column: CompareColumn;
  readonly direction: "ascending" | "descending";
}

export function compareRows(
  strategies: readonly CatalogueStrategy[],
  runs: readonly RunDocument[],
): readonly CompareRow[] {
  const lastOf = new Map(runs.map((run) => [run.strategy, run]));
  return strategies.map((strategy) => ({ strategy, run: lastOf.get(strategy.id) ?? null }));
}

const VERDICT_RANK = { unsafe: 0, inconclusive: 1, safe: 2 } as const;

/** The figure a column shows and sorts by; null where there is none. */
export function figureOf(run: RunDocument, column: CompareColumn): number | null {
  switch (column) {
    case "strategy":
      return null;
    case "verdict":
      return VERDICT_RANK[run.verdict];
    case "oversold":
      return run.violations.oversold;
    case "lostUpdates":
      return run.violations.lostUpdates;
    case "soldPerSecond":
      return run.throughput.soldPerSecond;
    case "p50":
      return run.latencyMs.p50;
    case "p99":
      return run.latencyMs.p99;
    case "wait":
      return run.phasesMs.wait.p50;
  }
}

/** Sorted by a column; rows without a figure stay at the end whichever way, in the catalogue's order. */
export function sortRows(rows: readonly CompareRow[], sorting: Sorting): CompareRow[] {
  const sign = sorting.direction === "ascending" ? 1 : -1;
  const ran = rows.filter((row) => row.run !== null);
  const never = rows.filter((row) => row.run === null);
  // "strategy" means the catalogue's own order, by family.
  if (sorting.column === "strategy") return [...(sign === 1 ? ran : ran.reverse()), ...never];
  const figure = (row: CompareRow) => (row.run === null ? null : figureOf(row.run, sorting.column));
  const sorted = ran.sort((a, b) => {
    const left = figure(a);
    const right = figure(b);
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return (left - right) * sign;
  });
  return [...sorted, ...never];
}

/** The largest figure of a column: what a full bar stands for. */
export function columnMax(rows: readonly CompareRow[], column: CompareColumn): number {
  return rows.reduce((max, row) => Math.max(max, row.run === null ? 0 : (figureOf(row.run, column) ?? 0)), 0);
}

/** A run's settings in a few characters, to see at a glance whether two runs may be compared. */
export function settingsLine(config: RunDocument["config"]): string {
  const load = config.rate === null ? plural(config.vus ?? 0, "buyer") : `${formatCount(config.rate)} buyers/s`;
  const nodes = plural(config.nodes, "node");
  const faults = (config.faults ?? []).map(({ id }) => `, ${id}`).join("");
  return `${plural(config.stock, "unit")}, ${load}, hold ${config.holdMs} ms, ${nodes}, ${config.engine}${faults}`;
}

/** Whether all finished runs were made with the same settings. */
export function sameSettings(rows: readonly CompareRow[]): boolean {
  return new Set(rows.flatMap((row) => (row.run === null ? [] : [settingsLine(row.run.config)]))).size <= 1;
}
