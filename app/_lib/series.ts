import type { RunSample } from "@/lib/runs/document";

/** Columns for the charts: x in seconds since the run was opened, one array of y values per series. */
export interface Columns {
  readonly x: readonly number[];
  readonly ys: readonly (readonly (number | null)[])[];
}

const seconds = (sample: RunSample) => sample.atMs / 1000;

/** Orders, and stock left. At the opening both are known: no orders, all the stock. */
export function stockColumns(initial: number, samples: readonly RunSample[]): Columns {
  if (samples.length === 0) return { x: [], ys: [[], []] };
  return {
    x: [0, ...samples.map(seconds)],
    ys: [
      [0, ...samples.map((sample) => sample.orders)],
      [initial, ...samples.map((sample) => sample.stockLeft)],
    ],
  };
}

export const PHASES = ["poolWait", "wait", "hold", "commit"] as const;
export type Phase = (typeof PHASES)[number];

export const PHASE_LABELS: Record<Phase, string> = { poolWait: "pool", wait: "wait", hold: "hold", commit: "commit" };

export const PHASE_MEANINGS: Record<Phase, string> = {
  poolWait: "waiting for a database connection",
  wait: "waiting for the lock, or retrying",
  hold: "inside the critical section",
  commit: "writing stock and order until durable",
};

/** Bottom to top: what the strategy cannot avoid first, waiting on top. */
export const STACK_ORDER: readonly Phase[] = ["hold", "commit", "wait", "poolWait"];

/** Medians per interval in `STACK_ORDER`. Intervals in which nothing completed stay empty. */
export function phaseColumns(samples: readonly RunSample[]): Columns {
  return {
    x: samples.map(seconds),
    ys: STACK_ORDER.map((phase) => samples.map((sample) => sample.phaseMediansMs[phase])),
  };
}

/** Sums from the bottom up: what a stacked bar reaches to. A sum of nothing is nothing. */
export function stacked(ys: Columns["ys"]): (number | null)[][] {
  return ys.map((_, level) => {
    const below = ys.slice(0, level + 1);
    return (ys[0] ?? []).map((__, at) => {
      const parts = below.map((column) => column[at] ?? null);
      return parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
    });
  });
}

/** The same sums in drawing order: the tallest first, so that the shorter ones lie over it. */
export function stackColumnsDrawn(ys: Columns["ys"]): (number | null)[][] {
  return stacked(ys).reverse();
}

/** Sold and completed per second over each interval. */
export function rateColumns(samples: readonly RunSample[]): Columns {
  return {
    x: samples.map(seconds),
    ys: [samples.map((sample) => sample.soldPerSecond), samples.map((sample) => sample.completedPerSecond)],
  };
}

/** Median and 99th percentile of the run so far. */
export function latencyColumns(samples: readonly RunSample[]): Columns {
  return {
    x: samples.map(seconds),
    ys: [samples.map((sample) => sample.latencyMs.p50), samples.map((sample) => sample.latencyMs.p99)],
  };
}

/** Purchases inside the nodes, and of those the ones waiting. */
export function pressureColumns(samples: readonly RunSample[]): Columns {
  return {
    x: samples.map(seconds),
    ys: [samples.map((sample) => sample.inFlight), samples.map((sample) => sample.waiters)],
  };
}

/** The sample nearest to a moment, for the readout under the pointer; -1 where there is none. */
export function nearestIndex(x: readonly number[], at: number): number {
  let best = -1;
  x.forEach((value, index) => {
    if (best === -1 || Math.abs(value - at) < Math.abs((x[best] ?? 0) - at)) best = index;
  });
  return best;
}
