import { servedNs } from "../intervals";
import { memoize } from "../memoize";
import type { Operation } from "../operation";

export interface Fairness {
  /** Jain's index over the waits of purchases that were served; null if there are none. */
  readonly jain: number | null;
  /** The longest wait, of purchases served and not served. */
  readonly longestWaitMs: number | null;
  readonly longestWaitOpId: string | null;
}

/** O(n). */
export const fairnessOf = memoize((ops: readonly Operation[]): Fairness => {
  const servedWaitsMs: number[] = [];
  let longestWaitMs: number | null = null;
  let longestWaitOpId: string | null = null;
  for (const op of ops) {
    const served = servedNs(op);
    const toNs = served ?? op.answeredNs;
    if (op.waitNs === undefined || toNs === undefined || toNs <= op.waitNs) continue;
    const waitMs = (toNs - op.waitNs) / 1e6;
    if (served !== undefined) servedWaitsMs.push(waitMs);
    if (longestWaitMs !== null && waitMs <= longestWaitMs) continue;
    longestWaitMs = waitMs;
    longestWaitOpId = op.opId;
  }
  return { jain: jainIndex(servedWaitsMs), longestWaitMs, longestWaitOpId };
});

/**
 * Jain's fairness index: 1 if all values are equal, 1/n if only one of n is not zero, null if all are zero.
 * @see https://arxiv.org/abs/cs/9809099
 */
export function jainIndex(values: readonly number[]): number | null {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? null : (sum * sum) / (values.length * squares);
}
