import type { History } from "./history";
import { holdsOf } from "./holds";
import { byHost, type Interval, lastSeenNs } from "./intervals";
import { memoize } from "./memoize";
import type { Operation } from "./operation";

/**
 * The number of holds and writes during which another purchase waited for its turn, read the stock or wrote. If there is
 * none, every purchase had the stock for itself, and any strategy looks safe. Times of one host's clock. O(n log n).
 */
export const contendedSections = memoize((ops: History["ops"]): number => {
  let count = 0;
  for (const onHost of byHost(ops).values()) count += contendedAmong(onHost);
  return count;
});

function contendedAmong(ops: readonly Operation[]): number {
  const claims = claimsOf(ops);
  const starts = Float64Array.from(claims, ({ from }) => from).sort();
  const ends = Float64Array.from(claims, ({ to }) => to).sort();
  // Each section lies within one claim, its own purchase's.
  return sectionsOf(ops).filter(({ from, to }) => countBelow(starts, to) - countUpTo(ends, from) > 1).length;
}

/** From grant to the end of the hold or, without a lock, from read to the end of the write. */
function sectionsOf(ops: readonly Operation[]): Interval[] {
  const holds = holdsOf(ops).map(({ fromNs, toNs }) => ({ from: fromNs, to: toNs }));
  const writes = ops.flatMap((op) => {
    const to = op.grantedNs === undefined && op.writeAccepted !== false ? writeEndNs(op) : undefined;
    return to === undefined ? [] : [{ from: readOrWriteNs(op) ?? to, to }];
  });
  return [...holds, ...writes].filter(({ from, to }) => from < to);
}

/** From the first interest in the stock to the last. The claims of one holder are one. */
function claimsOf(ops: readonly Operation[]): Interval[] {
  const claims = new Map<string, Interval>();
  const holdEnds = new Map(holdsOf(ops).map(({ op, toNs }) => [op.opId, toNs]));
  for (const op of ops) {
    const from = op.waitNs ?? op.grantedNs ?? readOrWriteNs(op);
    if (from === undefined) continue;
    const to = Math.max(from, holdEnds.get(op.opId) ?? endOfClaim(op) ?? from);
    const key = op.holderId === undefined ? `op ${op.opId}` : `holder ${op.holderId}`;
    const known = claims.get(key);
    claims.set(key, known ? { from: Math.min(known.from, from), to: Math.max(known.to, to) } : { from, to });
  }
  return [...claims.values()];
}

function endOfClaim(op: Operation): number | undefined {
  if (op.grantedNs !== undefined) return op.grantedNs;
  return writeEndNs(op) ?? (op.waitNs === undefined ? op.readNs : op.answeredNs);
}

function writeEndNs(op: Operation): number | undefined {
  return op.writeNs === undefined ? undefined : (op.committedNs ?? lastSeenNs(op));
}

/** A retried write may be earlier than the last read. */
function readOrWriteNs({ readNs, writeNs }: Operation): number | undefined {
  return readNs === undefined || writeNs === undefined ? (readNs ?? writeNs) : Math.min(readNs, writeNs);
}

function countBelow(sorted: Float64Array, limit: number): number {
  return indexOfFirst(sorted, (value) => value >= limit);
}

function countUpTo(sorted: Float64Array, limit: number): number {
  return indexOfFirst(sorted, (value) => value > limit);
}

function indexOfFirst(sorted: Float64Array, isFound: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isFound(sorted[middle] ?? Infinity)) high = middle;
    else low = middle + 1;
  }
  return low;
}
