import type { RunDocument } from "../../lib/runs/document";
import type { SweepRun } from "./sweep";

/** Figures of several runs of one strategy. */

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export interface StrategySummary {
  readonly strategy: string;
  readonly runs: number;
  readonly expected: RunDocument["expected"] | null;
  /** Number of runs per verdict; `failed` for runs that did not finish. */
  readonly verdicts: Readonly<Record<RunDocument["verdict"] | "failed", number>>;
  readonly oversold: Spread | null;
  readonly lostUpdates: Spread | null;
  readonly orders: Spread | null;
  readonly soldPerSecond: Spread | null;
  readonly buyerP50Ms: Spread | null;
  readonly buyerP99Ms: Spread | null;
  readonly elapsedMs: Spread | null;
}

/** Null without values. The median of an even number of values is the mean of the middle two. */
export function spreadOf(values: readonly (number | null | undefined)[]): Spread | null {
  const sorted = values.filter((value): value is number => typeof value === "number").sort((a, b) => a - b);
  const min = sorted[0];
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return null;
  const upper = sorted[Math.floor(sorted.length / 2)] ?? max;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? min;
  return { min, median: (lower + upper) / 2, max };
}

export function summarise(strategy: string, all: readonly SweepRun[]): StrategySummary {
  const runs = all.filter((run) => run.strategy === strategy);
  const documents = runs.flatMap(({ document }) => (document === null ? [] : [document]));
  const verdicts = { safe: 0, unsafe: 0, inconclusive: 0, failed: 0 };
  for (const { document } of runs) {
    verdicts[document === null || document.status === "failed" ? "failed" : document.verdict] += 1;
  }
  const spread = (pick: (document: RunDocument) => number | null) => spreadOf(documents.map(pick));
  return {
    strategy,
    runs: runs.length,
    expected: documents[0]?.expected ?? null,
    verdicts,
    oversold: spread(({ violations }) => violations.oversold),
    lostUpdates: spread(({ violations }) => violations.lostUpdates),
    orders: spread(({ stock }) => stock.orders),
    soldPerSecond: spread(({ throughput }) => throughput.soldPerSecond),
    buyerP50Ms: spread((document) => buyerLatencyOf(document)?.p50 ?? null),
    buyerP99Ms: spread((document) => buyerLatencyOf(document)?.p99 ?? null),
    elapsedMs: spreadOf(runs.map(({ elapsedMs }) => elapsedMs)),
  };
}

/** Null if the load generator did not report: the nodes' latency is another figure. */
function buyerLatencyOf({ latencySource, latencyMs }: RunDocument): RunDocument["latencyMs"] | null {
  return latencySource === "client" ? latencyMs : null;
}

/** `safe 5 of 5`, or each verdict with its number. */
export function verdictText({ verdicts, runs }: Pick<StrategySummary, "verdicts" | "runs">): string {
  const seen = Object.entries(verdicts).filter(([, count]) => count > 0);
  return seen.map(([verdict, count]) => `${verdict} ${count} of ${runs}`).join(", ");
}

function digits(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 1 : 0);
}

/** `12 (10 to 15)`, or one value if all are the same. */
export function spreadText(spread: Spread | null): string {
  if (spread === null) return "-";
  const { min, median, max } = spread;
  if (digits(min) === digits(max)) return digits(median);
  return `${digits(median)} (${digits(min)} to ${digits(max)})`;
}
