import type { History } from "./history";
import { type Interval, lastSeenNs } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";

/** With the next shorter length a run would have more steps than this; so it has at least 48, unless it is over at once. */
const MOST_STEPS = 120;
const LEAST_STEP_NS = 1_000;

/** The shortest length of 1, 2 or 5 times a power of ten that has no more steps than may be. */
export function stepNsFor(spanNs: number): number {
  for (let power = LEAST_STEP_NS; ; power *= 10) {
    const step = [1, 2, 5].map((factor) => factor * power).find((one) => spanNs <= one * MOST_STEPS);
    if (step !== undefined) return step;
  }
}

/** The steps of a history; the parts of its series go with it, each worked out once. */
export class StepGrid {
  readonly stepNs: number;
  readonly count: number;

  constructor(
    readonly history: History,
    readonly zeroNs: number,
    spanNs: number,
  ) {
    this.stepNs = stepNsFor(spanNs);
    this.count = Math.max(1, Math.ceil(spanNs / this.stepNs));
  }

  /** When a step begins; the end of the one before. */
  beginOf(step: number): number {
    return this.zeroNs + step * this.stepNs;
  }

  /** What happened in each step. What has no moment happened in none. */
  collect(ops: Iterable<Operation>, momentOf: (op: Operation) => number | undefined): Operation[][] {
    const steps: Operation[][] = Array.from({ length: this.count }, () => []);
    for (const op of ops) {
      const ns = momentOf(op);
      if (ns !== undefined) steps[this.stepOf(ns)]?.push(op);
    }
    return steps;
  }

  private stepOf(ns: number): number {
    return Math.min(this.count - 1, Math.max(0, Math.ceil((ns - this.zeroNs) / this.stepNs) - 1));
  }
}

/** Null without purchases, and where several clocks timed them. */
export const gridOf = memoize((history: History): StepGrid | null => {
  const { ops } = history;
  const host = ops[0]?.host;
  let zeroNs = Infinity;
  let endNs = -Infinity;
  for (const op of ops) {
    if (op.host !== host) return null;
    zeroNs = Math.min(zeroNs, op.invokedNs);
    // Who gave up waiting for an answer may have taken his units later.
    endNs = Math.max(endNs, lastSeenNs(op), op.committedNs ?? -Infinity);
  }
  return host === undefined ? null : new StepGrid(history, zeroNs, endNs - zeroNs);
});

/** The most that were open at once within each step; as everywhere, an end and a start at one instant do not overlap. */
export function peaksIn(intervals: readonly Interval[], grid: StepGrid): number[] {
  const starts = sorted(intervals.map(({ from }) => from));
  const ends = sorted(intervals.map(({ to }) => to));
  let started = 0;
  let ended = 0;
  const endUpTo = (ns: number) => {
    for (let end = ends[ended]; end !== undefined && end <= ns; end = ends[ended]) ended += 1;
  };
  return Array.from({ length: grid.count }, (_, step) => {
    endUpTo(grid.beginOf(step));
    let peak = Math.max(0, started - ended);
    for (let from = starts[started]; from !== undefined && from <= grid.beginOf(step + 1); from = starts[started]) {
      endUpTo(from);
      started += 1;
      peak = Math.max(peak, started - ended);
    }
    return peak;
  });
}

/** Ascending. */
export function sorted(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}
