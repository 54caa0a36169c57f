import type { Operation } from "./operation";

/** Two purchases that computed their writes from the same value: the second write overwrote the first. */
export interface LostUpdate {
  readonly first: Operation;
  readonly second: Operation;
}

/** A write that overwrote others, with the purchases that it undid. */
export interface LateWrite {
  readonly late: Operation;
  readonly undone: readonly [Operation, ...Operation[]];
}

export interface LostUpdates {
  /** In the order of the second write. */
  readonly pairs: readonly LostUpdate[];
  /** All purchases that wrote "value read minus quantity", in the order of their writes. */
  readonly writers: readonly Operation[];
  /**
   * True if that order is the database's. Else it is the order of the confirmations, and a busy node confirms a write late.
   */
  readonly isDatabaseOrder: boolean;
  /** How many more updates are lost, by the totals, than the pairs show. */
  readonly unpaired: number;
}

interface OpenLateWrite extends LateWrite {
  readonly undone: [Operation, ...Operation[]];
}

/**
 * Groups lost updates by their cause. One late write can restore an old stock value, and then each later purchase reads a
 * value that was used before. Such a purchase overwrote nothing: the late write undid the earlier user of its value.
 * O(n log n).
 */
export function lateWritesOf({ pairs, writers, isDatabaseOrder, unpaired }: LostUpdates): readonly LateWrite[] {
  const order = isDatabaseOrder ? new Map(writers.map((op, index) => [op, index])) : null;
  const found: OpenLateWrite[] = [];
  const causes = new Map<Operation, OpenLateWrite>();
  const lastUserOf = new Map<number | undefined, Operation>();
  const lastWriterOf = new Map<number | undefined, Operation>();
  for (const { first, second } of pairs) {
    const overwritten = lastUserOf.get(second.readValue) ?? first;
    const source = lastWriterOf.get(second.readValue);
    const known = source && isRestored({ overwritten, source, second }, order) ? causes.get(source) : undefined;
    if (known) known.undone.push(overwritten);
    const cause = known ?? { late: second, undone: [overwritten] };
    if (!known) found.push(cause);
    causes.set(second, cause);
    lastUserOf.set(second.readValue, second);
    lastWriterOf.set(second.writtenValue, second);
  }
  if (unpaired > 0) addWritesInBetween(found, { writers, order, unpaired });
  return found;
}

/** The place of each writer in the order of the database; null if that order is not known. */
type WriteOrder = ReadonlyMap<Operation, number> | null;

interface Reuse {
  readonly overwritten: Operation;
  /** The last late writer that wrote the value which `second` read. */
  readonly source: Operation;
  readonly second: Operation;
}

/** True if another write restored the value, after the first purchase had already replaced it. */
function isRestored({ overwritten, source, second }: Reuse, order: WriteOrder): boolean {
  if (order) return isEarlier(overwritten, source, order);
  if (overwritten.host !== second.host || second.readNs === undefined || overwritten.committedNs === undefined)
    return false;
  return second.readNs > overwritten.committedNs;
}

function isEarlier(a: Operation, b: Operation, order: NonNullable<WriteOrder>): boolean {
  return (order.get(a) ?? Infinity) < (order.get(b) ?? -Infinity);
}

interface InBetween {
  readonly writers: readonly Operation[];
  readonly order: WriteOrder;
  readonly unpaired: number;
}

/** A write that began after the late writer's read, and took effect before the late write, was undone too. */
function addWritesInBetween(found: readonly OpenLateWrite[], { writers, order, unpaired }: InBetween): void {
  let left = unpaired;
  const undone = new Set(found.flatMap((each) => each.undone));
  const candidates = writers.filter(
    (op) => op.writeNs !== undefined && op.committedNs !== undefined && !undone.has(op),
  );
  candidates.sort((a, b) => (a.writeNs ?? 0) - (b.writeNs ?? 0));
  const remaining = new Remaining(candidates.length);
  for (const { late, undone: own } of found) {
    const { host, readNs, writeNs, committedNs } = late;
    if (readNs === undefined || writeNs === undefined) continue;
    const isBefore = (op: Operation) => (order ? isEarlier(op, late, order) : (op.committedNs ?? Infinity) < writeNs);
    // The late write may itself have waited for others in the database.
    const untilNs = order ? (committedNs ?? writeNs) : writeNs;
    let index = remaining.from(firstAfter(candidates, readNs));
    for (let op = candidates[index]; op && (op.writeNs ?? 0) < untilNs; op = candidates[index]) {
      const isUndone = op !== late && left > 0 && op.host === host && isBefore(op);
      if (isUndone) {
        own.push(op);
        remaining.remove(index);
        left -= 1;
      }
      index = remaining.from(index + 1);
    }
    own.sort((a, b) => (a.writeNs ?? 0) - (b.writeNs ?? 0));
  }
}

/** The index of the first candidate that began to write after `ns`. */
function firstAfter(candidates: readonly Operation[], ns: number): number {
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((candidates[middle]?.writeNs ?? 0) > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Indexes that were not removed. Skips removed ones in almost constant time. */
class Remaining {
  private readonly next: Int32Array;

  constructor(count: number) {
    this.next = Int32Array.from({ length: count + 1 }, (_, index) => index);
  }

  remove(index: number): void {
    this.next[index] = index + 1;
  }

  /** The first remaining index at or after `index`. */
  from(index: number): number {
    let found = Math.min(index, this.next.length - 1);
    for (let next = this.next[found]; next !== undefined && next !== found; next = this.next[found]) {
      this.next[found] = this.next[next] ?? next;
      found = next;
    }
    return found;
  }
}
