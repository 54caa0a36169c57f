import type { Phase } from "@/lib/history/phases";
import type { FaultBand } from "./fault-bands";
import { type TimeAxis, timeAxis } from "./time-axis";

/** Columns for a chart: x in seconds since the sale began, one array of y values per series. */
export interface Columns {
  readonly x: readonly number[];
  readonly ys: readonly (readonly (number | null)[])[];
}

/** What the charts over time draw, whether it was sampled while the run went on or worked out of its history. */
export interface RunSeries {
  /** Where the numbers come from and how fine they are: "from 500 recorded purchases, 5 ms steps". */
  readonly source: string;
  /** What latencies are of: "5 ms steps". */
  readonly span: string;
  /** How many were inside when: "most at once, 5 ms steps". */
  readonly moment: string;
  readonly axis: TimeAxis;
  /** Shown where nothing is drawn. */
  readonly blank: string;
  /** Orders, stock left, units beyond the stock. */
  readonly stock: Columns;
  /** Medians in `STACK_ORDER`; null where nothing completed. */
  readonly phases: Columns;
  /** Sold and answered per second. */
  readonly rates: Columns;
  /** Median and 99th percentile, ms. */
  readonly latency: Columns;
  /** In flight, and of them waiting for their turn. */
  readonly inside: Columns;
  readonly bands: readonly FaultBand[];
}

export const PHASE_LABELS: Record<Phase, string> = { poolWait: "pool", wait: "wait", hold: "hold", commit: "commit" };

export const PHASE_MEANINGS: Record<Phase, string> = {
  poolWait: "waiting for a database connection",
  wait: "waiting for the lock, or retrying",
  hold: "inside the critical section",
  commit: "writing stock and order until durable",
};

/** Bottom to top: what the strategy cannot avoid first, waiting on top. */
export const STACK_ORDER: readonly Phase[] = ["hold", "commit", "wait", "poolWait"];

/** Sums from the bottom up: what each part of a stacked bar reaches to. A sum of nothing is nothing. */
export function stacked(ys: Columns["ys"]): (number | null)[][] {
  return ys.map((_, level) => {
    const below = ys.slice(0, level + 1);
    return (ys[0] ?? []).map((__, at) => {
      const parts = below.map((column) => column[at] ?? null);
      return parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
    });
  });
}

/** Charts of their full size with nothing on them yet. */
export function blankSeries(blank: string): RunSeries {
  const columns = (count: number): Columns => ({ x: [], ys: Array.from({ length: count }, () => []) });
  return {
    source: blank,
    span: "",
    moment: "purchases",
    axis: timeAxis(1, 1),
    blank,
    stock: columns(3),
    phases: columns(STACK_ORDER.length),
    rates: columns(2),
    latency: columns(2),
    inside: columns(2),
    bands: [],
  };
}
