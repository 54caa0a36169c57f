import type { Phase } from "@/lib/history/phases";
import { ANSWER_KINDS } from "./answer-kinds";
import type { FaultBand } from "./fault-bands";
import { type TimeAxis, timeAxis } from "./time-axis";

/** Columns for a chart: x in seconds since the sale began, one array of y values per series. */
export interface Columns {
  readonly x: readonly number[];
  readonly ys: readonly (readonly (number | null)[])[];
}

/** Data of the charts over time, from live samples or from the history. */
export interface RunSeries {
  /** Data source and resolution: "from 500 recorded purchases in 5 ms steps". */
  readonly source: string;
  /** Interval that a latency value covers: "5 ms steps". */
  readonly latencySpan: string;
  /** What an in-flight value counts: "peak in 5 ms steps". */
  readonly inFlightUnit: string;
  readonly axis: TimeAxis;
  /** Text shown when there is no data. */
  readonly blank: string;
  /** Orders, stock left, units beyond the stock. */
  readonly stock: Columns;
  /** Medians in `STACK_ORDER`; null for an interval without a completed purchase. */
  readonly phases: Columns;
  /** Answers per second in `ANSWER_KINDS`. */
  readonly answers: Columns;
  /** p50, p95 and p99, ms. */
  readonly latency: Columns;
  /** Purchases in flight, and those of them that wait for the lock. */
  readonly inside: Columns;
  readonly bands: readonly FaultBand[];
}

export const PHASE_LABELS: Record<Phase, string> = { poolWait: "pool", wait: "wait", hold: "hold", commit: "commit" };

export const PHASE_MEANINGS: Record<Phase, string> = {
  poolWait: "waiting for a database connection",
  wait: "waiting for the lock or between retries",
  hold: "inside the critical section",
  commit: "committing stock and order",
};

/** Bottom to top: necessary work first, waiting on top. */
export const STACK_ORDER: readonly Phase[] = ["hold", "commit", "wait", "poolWait"];

/** Cumulative sums from bottom to top for stacked bars. If all parts are null, the sum is null. */
export function stacked(ys: Columns["ys"]): (number | null)[][] {
  return ys.map((_, level) => {
    const below = ys.slice(0, level + 1);
    return (ys[0] ?? []).map((__, at) => {
      const parts = below.map((column) => column[at] ?? null);
      return parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
    });
  });
}

/** Empty series: charts at full size without data. */
export function blankSeries(blank: string): RunSeries {
  const columns = (count: number): Columns => ({ x: [], ys: Array.from({ length: count }, () => []) });
  return {
    source: blank,
    latencySpan: "",
    inFlightUnit: "purchases",
    axis: timeAxis(1, 1),
    blank,
    stock: columns(3),
    phases: columns(STACK_ORDER.length),
    answers: columns(ANSWER_KINDS.length),
    latency: columns(3),
    inside: columns(2),
    bands: [],
  };
}
