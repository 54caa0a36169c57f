import type { HistoryOpLine } from "./types";

/** Pure checkers over the operations of a run. Times compare across nodes because one host has one monotonic clock. */

export interface Interval {
  readonly from: bigint;
  readonly to: bigint;
}

/** The highest number of intervals open at once. O(n log n). An end and a start at the same instant do not overlap. */
export function peakOverlap(intervals: readonly Interval[]): number {
  const edges = intervals.flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ]);
  edges.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.step - b.step));
  let open = 0;
  let peak = 0;
  for (const { step } of edges) {
    open += step;
    peak = Math.max(peak, open);
  }
  return peak;
}

/** How many holds began while an earlier one had not ended: two believed they were alone. O(n log n). */
export function countOverlappingHolds(ops: readonly HistoryOpLine[]): number {
  const holds = ops.flatMap((op) => {
    const end = op.releasedNs ?? op.answeredNs;
    return op.grantedNs && end ? [{ from: BigInt(op.grantedNs), to: BigInt(end) }] : [];
  });
  holds.sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  let overlapping = 0;
  let latestEnd = 0n;
  for (const { from, to } of holds) {
    if (from < latestEnd) overlapping += 1;
    if (to > latestEnd) latestEnd = to;
  }
  return overlapping;
}

/**
 * Accepted writes of a holder whose time was over: its lease was known lost before the write, or a newer fencing
 * token had already written. O(n log n).
 */
export function countStaleWrites(ops: readonly HistoryOpLine[]): number {
  const accepted = ops.filter((op) => op.writeAccepted && op.committedNs);
  accepted.sort((a, b) => (BigInt(a.committedNs ?? 0) < BigInt(b.committedNs ?? 0) ? -1 : 1));
  let stale = 0;
  let newest = -1n;
  for (const op of accepted) {
    const lostBefore =
      op.leaseLostNs !== undefined && op.writeNs !== undefined && BigInt(op.leaseLostNs) < BigInt(op.writeNs);
    const token = op.fencingToken === undefined ? null : BigInt(op.fencingToken);
    if (lostBefore || (token !== null && token < newest)) stale += 1;
    if (token !== null && token > newest) newest = token;
  }
  return stale;
}

/** From being asked to being answered. */
export function flightsOf(ops: readonly HistoryOpLine[]): Interval[] {
  return ops.flatMap((op) => (op.answeredNs ? [{ from: BigInt(op.invokedNs), to: BigInt(op.answeredNs) }] : []));
}

/** From asking for the turn to getting it, or to being turned away. */
export function waitsOf(ops: readonly HistoryOpLine[]): Interval[] {
  return ops.flatMap((op) => {
    const end = op.grantedNs ?? op.readNs ?? op.answeredNs;
    return op.waitNs && end && BigInt(end) > BigInt(op.waitNs) ? [{ from: BigInt(op.waitNs), to: BigInt(end) }] : [];
  });
}

/**
 * Jain's fairness index of the waits of those who were served: 1 when all waited alike, 1/n when one did all the
 * waiting; null when nobody waited.
 * @see https://arxiv.org/abs/cs/9809099
 */
export function jainIndex(values: readonly number[]): number | null {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? null : (sum * sum) / (values.length * squares);
}

/** The first overlap in words' raw material: two operations that read the same value and both wrote. O(n log n). */
export function firstLostUpdate(ops: readonly HistoryOpLine[]): readonly [HistoryOpLine, HistoryOpLine] | null {
  const writers = ops.filter((op) => op.writeAccepted && op.readValue !== undefined && op.committedNs);
  writers.sort((a, b) => (BigInt(a.committedNs ?? 0) < BigInt(b.committedNs ?? 0) ? -1 : 1));
  const firstByRead = new Map<number, HistoryOpLine>();
  for (const op of writers) {
    const earlier = firstByRead.get(op.readValue ?? 0);
    if (earlier) return [earlier, op];
    firstByRead.set(op.readValue ?? 0, op);
  }
  return null;
}
