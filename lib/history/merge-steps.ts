import { type FaultStep, faultStepsOf } from "./fault-steps";
import type { History } from "./history";
import { clockReading, type Operation, type TimeField } from "./operation";
import { type Step, stepsOf } from "./steps";

/** An operation as a column of the interleaving. */
export interface Actor {
  readonly opId: string;
  readonly node: string;
  readonly host: string;
  readonly buyerId: string;
  readonly outcome: Operation["outcome"];
}

export interface InterleavingStep extends Omit<Step | FaultStep, "atNs"> {
  /** Time since the first step shown, by the clock of the actor's host. */
  readonly afterNs: number;
  /** True if this step is part of the violation. */
  readonly isMarked: boolean;
  /** True if the step is hidden until the reader asks for all steps. */
  readonly isDetail: boolean;
}

/** The steps of several purchases in one list, sorted by time. */
export interface Interleaving {
  /** Sorted by first step; at most `MAX_ACTORS`. */
  readonly actors: readonly Actor[];
  readonly steps: readonly InterleavingStep[];
  /** The clock reading of the first step; null if no step was recorded. */
  readonly fromNs: string | null;
  /** Facts without a time: rows read after the run, totals, the number of purchases not shown. */
  readonly remarks: readonly string[];
  /** False if the actors ran on several hosts: the order of steps on different hosts is then unknown. */
  readonly isOneClock: boolean;
}

interface MergeOptions {
  /** The steps that are shown; the others are details. */
  readonly fields: readonly TimeField[];
  /** The marked steps of each operation. */
  readonly marked: ReadonlyMap<string, readonly TimeField[]>;
}

export function mergeSteps(
  history: History,
  ops: readonly Operation[],
  { fields, marked }: MergeOptions,
): Omit<Interleaving, "remarks"> {
  const all = ops.flatMap((op) => stepsOf(history, op));
  const shown = all.filter(({ field }) => fields.includes(field));
  const times = (shown.length > 0 ? shown : all).map(({ atNs }) => atNs);
  const faultSteps = all.length > 0 ? faultStepsOf(history, ops, [Math.min(...times), Math.max(...times)]) : [];
  const firstNs = Math.min(...times, ...faultSteps.map(({ atNs }) => atNs));
  const ownSteps = all.map((step) => ({
    ...step,
    isMarked: marked.get(step.opId)?.includes(step.field) ?? false,
    isDetail: !fields.includes(step.field),
  }));
  const steps = [...ownSteps, ...faultSteps.map((step) => ({ ...step, isMarked: false, isDetail: false }))]
    .map(({ atNs, ...step }) => ({ ...step, afterNs: atNs - firstNs }))
    // The sort is stable: steps at the same time keep their order within a purchase.
    .sort((a, b) => a.afterNs - b.afterNs);
  const firstSteps = new Map<string | null, number>(steps.map(({ opId }, index) => [opId, index] as const).reverse());
  const actors = [...ops].sort((a, b) => (firstSteps.get(a.opId) ?? 0) - (firstSteps.get(b.opId) ?? 0));
  const [first] = actors;
  return {
    actors: actors.map(({ opId, node, host, buyerId, outcome }) => ({ opId, node, host, buyerId, outcome })),
    steps,
    fromNs: first && steps.length > 0 ? clockReading(first, firstNs) : null,
    isOneClock: new Set(ops.map(({ host }) => host)).size <= 1,
  };
}
