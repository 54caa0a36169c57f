import { memoize } from "./memoize";
import type { Operation } from "./operation";

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * The largest number of intervals open at the same time. An end and a start at the same instant do not overlap.
 * O(n log n).
 */
export function peakOverlap(intervals: readonly Interval[]): number {
  const starts = Float64Array.from(intervals, ({ from }) => from).sort();
  const ends = Float64Array.from(intervals, ({ to }) => to).sort();
  let ended = 0;
  let peak = 0;
  for (let started = 0; started < starts.length; started += 1) {
    const from = starts[started] ?? 0;
    for (let end = ends[ended]; end !== undefined && end <= from; end = ends[ended]) ended += 1;
    peak = Math.max(peak, started + 1 - ended);
  }
  return peak;
}

/** From request to answer. */
export function flightsOf(ops: readonly Operation[]): Interval[] {
  return ops.flatMap((op) => (op.answeredNs === undefined ? [] : [{ from: op.invokedNs, to: op.answeredNs }]));
}

/** From the start of waiting for the lock to the grant, or to the answer if there was no grant. */
export function waitsOf(ops: readonly Operation[]): Interval[] {
  const waits: Interval[] = [];
  for (const op of ops) {
    const to = servedNs(op) ?? op.answeredNs;
    if (op.waitNs !== undefined && to !== undefined && to > op.waitNs) waits.push({ from: op.waitNs, to });
  }
  return waits;
}

/** The grant, or the read if the strategy has no lock. */
export function servedNs(op: Operation): number | undefined {
  return op.grantedNs ?? op.readNs;
}

/** Times are comparable only within one host. */
export const byHost = memoize((ops: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> => {
  const hosts = new Map<string, Operation[]>();
  for (const op of ops) {
    const known = hosts.get(op.host);
    if (known) known.push(op);
    else hosts.set(op.host, [op]);
  }
  return hosts;
});

/** The largest number of purchases in flight at the same time, by the clock of any one host. */
export const peakInFlight = memoize((ops: readonly Operation[]): number => {
  let peak = 0;
  for (const onHost of byHost(ops).values()) {
    const lastNs = onHost.reduce((last, op) => Math.max(last, lastSeenNs(op)), 0);
    // A purchase without an answer counts as in flight until the end.
    const flights = onHost.map((op) => ({ from: op.invokedNs, to: op.answeredNs ?? lastNs }));
    peak = Math.max(peak, peakOverlap(flights));
  }
  return peak;
});

/** The last recorded time of a purchase. */
export function lastSeenNs(op: Operation): number {
  return (
    op.answeredNs ??
    op.releasedNs ??
    op.committedNs ??
    op.writeNs ??
    op.readNs ??
    op.grantedNs ??
    op.waitNs ??
    op.invokedNs
  );
}
