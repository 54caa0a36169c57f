import type { RunSample } from "@/lib/runs/document";

/** Columns for the charts: x in seconds since the doors opened, one array of y values per series. */
export interface Columns {
  readonly x: readonly number[];
  readonly ys: readonly (readonly (number | null)[])[];
}

/** The part of a feed in which something happens, and the moment its x axis begins at. */
export interface ActiveSpan {
  /** The last quiet moment before the first purchase, since the run was opened. */
  readonly fromMs: number;
  readonly samples: readonly RunSample[];
}

const isActive = (sample: RunSample) => sample.inFlight > 0 || sample.counts.requests > 0;

/**
 * Leaves out the load engine's start and its end: k6 needs seconds to start, a sale may need less.
 * Ends with the first sample that has everything: all answers, all orders, nobody inside.
 */
export function activeSpan(samples: readonly RunSample[]): ActiveSpan {
  const first = samples.findIndex(isActive);
  const last = samples.at(-1);
  if (first === -1 || last === undefined) return { fromMs: 0, samples: [] };
  const complete = samples.findIndex(
    (sample, index) =>
      index >= first &&
      sample.inFlight === 0 &&
      sample.counts.requests === last.counts.requests &&
      sample.orders === last.orders &&
      sample.stockLeft === last.stockLeft,
  );
  const end = complete === -1 ? samples.length : complete + 1;
  return { fromMs: samples[first - 1]?.atMs ?? 0, samples: samples.slice(first, end) };
}

/** Seconds since the doors opened. */
function secondsOf({ fromMs, samples }: ActiveSpan): number[] {
  return samples.map((sample) => (sample.atMs - fromMs) / 1000);
}

/** Orders, and stock left. When the doors open both are known: no orders, all the stock. */
export function stockColumns(initial: number, all: readonly RunSample[]): Columns {
  const span = activeSpan(all);
  if (span.samples.length === 0) return { x: [], ys: [[], [], []] };
  return {
    x: [0, ...secondsOf(span)],
    ys: [
      [0, ...span.samples.map((sample) => sample.orders)],
      [initial, ...span.samples.map((sample) => sample.stockLeft)],
      [0, ...span.samples.map((sample) => sample.oversold)],
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

/** One y column for each reader, over the active part of the feed. */
function columnsOf(all: readonly RunSample[], readers: readonly ((sample: RunSample) => number | null)[]): Columns {
  const span = activeSpan(all);
  return { x: secondsOf(span), ys: readers.map((read) => span.samples.map(read)) };
}

/** Medians per interval in `STACK_ORDER`. Intervals in which nothing completed stay empty. */
export function phaseColumns(samples: readonly RunSample[]): Columns {
  return columnsOf(
    samples,
    STACK_ORDER.map((phase) => (sample: RunSample) => sample.phaseMediansMs[phase]),
  );
}

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

/** Sold and answered per second over each interval. */
export function rateColumns(samples: readonly RunSample[]): Columns {
  return columnsOf(samples, [(sample) => sample.soldPerSecond, (sample) => sample.completedPerSecond]);
}

/** Median and 99th percentile of the run so far. */
export function latencyColumns(samples: readonly RunSample[]): Columns {
  return columnsOf(samples, [(sample) => sample.latencyMs.p50, (sample) => sample.latencyMs.p99]);
}
