import type { History } from "./history";
import { type Interval, lastSeenNs } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";
import { sorted } from "./quantile";

/** The shortest step that needs no more than this many; a run of 120 us or longer then has at least 48. */
const MAX_STEPS = 120;
const MIN_STEP_NS = 1_000;

/** The shortest step of 1, 2 or 5 times a power of ten that gives at most `MAX_STEPS` steps. */
export function stepNsFor(spanNs: number): number {
  for (let power = MIN_STEP_NS; ; power *= 10) {
    const step = [1, 2, 5].map((factor) => factor * power).find((length) => spanNs <= length * MAX_STEPS);
    if (step !== undefined) return step;
  }
}

/** The steps of a history. It is also the key under which the parts of the series are memoized. */
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

  /** The start of a step, which is the end of the previous one. */
  startOf(step: number): number {
    return this.zeroNs + step * this.stepNs;
  }

  /** Groups operations by step; an operation without a time is in no step. */
  groupByStep(ops: Iterable<Operation>, timeOf: (op: Operation) => number | undefined): Operation[][] {
    const steps: Operation[][] = Array.from({ length: this.count }, () => []);
    for (const op of ops) {
      const ns = timeOf(op);
      if (ns !== undefined) steps[this.stepOf(ns)]?.push(op);
    }
    return steps;
  }

  private stepOf(ns: number): number {
    return Math.min(this.count - 1, Math.max(0, Math.ceil((ns - this.zeroNs) / this.stepNs) - 1));
  }
}

/** Null without purchases, and if several hosts timed them. */
export const gridOf = memoize((history: History): StepGrid | null => {
  const { ops } = history;
  const host = ops[0]?.host;
  let zeroNs = Infinity;
  let endNs = -Infinity;
  for (const op of ops) {
    if (op.host !== host) return null;
    zeroNs = Math.min(zeroNs, op.invokedNs);
    // After a timeout the commit can be later than the answer.
    endNs = Math.max(endNs, lastSeenNs(op), op.committedNs ?? -Infinity);
  }
  return host === undefined ? null : new StepGrid(history, zeroNs, endNs - zeroNs);
});

/**
 * The largest number of intervals open at the same time within each step. An end and a start at the same instant do not
 * overlap.
 */
export function peaksIn(intervals: readonly Interval[], grid: StepGrid): number[] {
  const starts = sorted(intervals.map(({ from }) => from));
  const ends = sorted(intervals.map(({ to }) => to));
  let started = 0;
  let ended = 0;
  const endUpTo = (ns: number) => {
    for (let end = ends[ended]; end !== undefined && end <= ns; end = ends[ended]) ended += 1;
  };
  return Array.from({ length: grid.count }, (_, step) => {
    endUpTo(grid.startOf(step));
    let peak = Math.max(0, started - ended);
    for (let from = starts[started]; from !== undefined && from <= grid.startOf(step + 1); from = starts[started]) {
      endUpTo(from);
      started += 1;
      peak = Math.max(peak, started - ended);
    }
    return peak;
  });
}
