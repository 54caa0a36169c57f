import { memoize } from "./memoize";
import type { Operation } from "./operation";

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The highest number of intervals open at once. O(n log n). An end and a start at the same instant do not overlap. */
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

/** From being asked to being answered. */
export function flightsOf(ops: readonly Operation[]): Interval[] {
  return ops.flatMap((op) => (op.answeredNs === undefined ? [] : [{ from: op.invokedNs, to: op.answeredNs }]));
}

/** From asking for the turn to getting it, or to being turned away. */
export function waitsOf(ops: readonly Operation[]): Interval[] {
  const waits: Interval[] = [];
  for (const op of ops) {
    const to = servedNs(op) ?? op.answeredNs;
    if (op.waitNs !== undefined && to !== undefined && to > op.waitNs) waits.push({ from: op.waitNs, to });
  }
  return waits;
}

/** When a purchase's turn came: the grant, or the read where there is no lock. */
export function servedNs(op: Operation): number | undefined {
  return op.grantedNs ?? op.readNs;
}

/** Purchases by host: times of two hosts do not compare. */
export const byHost = memoize((ops: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> => {
  const hosts = new Map<string, Operation[]>();
  for (const op of ops) {
    const known = hosts.get(op.host);
    if (known) known.push(op);
    else hosts.set(op.host, [op]);
  }
  return hosts;
});

/** The highest number of purchases in flight at once that one host's clock can prove. */
export const peakInFlight = memoize((ops: readonly Operation[]): number => {
  let peak = 0;
  for (const onHost of byHost(ops).values()) {
    const lastNs = onHost.reduce((last, op) => Math.max(last, lastSeenNs(op)), 0);
    // A purchase without an answer was in flight to the end.
    const flights = onHost.map((op) => ({ from: op.invokedNs, to: op.answeredNs ?? lastNs }));
    peak = Math.max(peak, peakOverlap(flights));
  }
  return peak;
});

/** The last sign of life of a purchase. */
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
