import { isRanked } from "@/lib/runs/comparison";
import type { RunDocument } from "@/lib/runs/document";
import { buyersLatencyOf } from "./buyers-latency";
import { formatCount, plural, settingText } from "./format";
import type { CatalogueStrategy } from "./strategy-catalogue";

/** A strategy with its last finished run. */
export interface CompareRow {
  readonly strategy: CatalogueStrategy;
  readonly run: RunDocument;
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

/** Splits the strategies, in catalogue order, into those with a run and those without. */
export function compareRows(
  strategies: readonly CatalogueStrategy[],
  runs: readonly RunDocument[],
): { readonly rows: readonly CompareRow[]; readonly never: readonly CatalogueStrategy[] } {
  const lastOf = new Map(runs.map((run) => [run.strategy, run]));
  return {
    rows: strategies.flatMap((strategy) => {
      const run = lastOf.get(strategy.id);
      return run === undefined ? [] : [{ strategy, run }];
    }),
    never: strategies.filter(({ id }) => !lastOf.has(id)),
  };
}

const VERDICT_RANK = { unsafe: 0, inconclusive: 1, safe: 2 } as const;

/** The value that a column shows and sorts by; null if the run has none. */
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
      return buyersLatencyOf(run)?.p50 ?? null;
    case "p99":
      return buyersLatencyOf(run)?.p99 ?? null;
    case "wait":
      return run.phasesMs.wait.p50;
  }
}

/** Sorts by a column; rows without a value come last in both directions. */
export function sortRows(rows: readonly CompareRow[], { column, direction }: Sorting): CompareRow[] {
  const sign = direction === "ascending" ? 1 : -1;
  // "strategy" means catalogue order, which groups by family.
  if (column === "strategy") return sign === 1 ? [...rows] : [...rows].reverse();
  return [...rows].sort((a, b) => {
    const left = figureOf(a.run, column);
    const right = figureOf(b.run, column);
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return (left - right) * sign;
  });
}

const SPEED: ReadonlySet<CompareColumn> = new Set(["soldPerSecond", "p50", "p99", "wait"]);

export function isSpeed(column: CompareColumn): boolean {
  return SPEED.has(column);
}

/** The safe runs, sorted, and the others, whose speed has no rank. */
export function sortedParts(
  rows: readonly CompareRow[],
  sorting: Sorting,
): { readonly ranked: readonly CompareRow[]; readonly unranked: readonly CompareRow[] } {
  const unranked = rows.filter(({ run }) => !isRanked(run));
  return {
    ranked: sortRows(
      rows.filter(({ run }) => isRanked(run)),
      sorting,
    ),
    unranked: isSpeed(sorting.column) ? unranked : sortRows(unranked, sorting),
  };
}

/** The largest value of a column, which a full bar represents. */
export function columnMax(rows: readonly CompareRow[], column: CompareColumn): number {
  return rows.reduce((max, { run }) => Math.max(max, figureOf(run, column) ?? 0), 0);
}

/** Short text of a run's settings; runs with equal text are comparable. */
export function settingsLine(config: RunDocument["config"]): string {
  const load = config.rate === null ? plural(config.vus ?? 0, "buyer") : `${formatCount(config.rate)} buyers/s`;
  const nodes = plural(config.nodes, "node");
  const faults = (config.faults ?? []).map(({ id }) => `, ${id}`).join("");
  return `${plural(config.stock, "unit")}, ${load}, hold ${settingText(config.holdMs)}, ${nodes}, ${config.engine}${faults}`;
}

/** The most common settings and the number of runs that have them; null if no two runs agree. */
export interface CommonSettings {
  readonly line: string;
  readonly count: number;
}

export function commonSettings(rows: readonly CompareRow[]): CommonSettings | null {
  const counts = new Map<string, number>();
  for (const { run } of rows) {
    const line = settingsLine(run.config);
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  let most: CommonSettings | null = null;
  for (const [line, count] of counts) if (count > (most?.count ?? 1)) most = { line, count };
  return most;
}
