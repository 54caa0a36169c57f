import { memoize } from "./memoize";
import type { Operation } from "./operation";

/** A period in which a holder assumed that it held the lock. */
export interface Hold {
  /** The purchase that acquired the lock; the first one if several share the hold. */
  readonly op: Operation;
  readonly fromNs: number;
  readonly toNs: number;
  readonly fencingToken: bigint | undefined;
}

/**
 * The holds of one host's purchases, sorted by start. Purchases that share a `holderId` (a nested entry, a batch) share
 * one hold. A hold ends at its release, or when the holder detects that its lease is lost.
 */
export const holdsOf = memoize((ops: readonly Operation[]): readonly Hold[] => {
  const shared = new Map<string, Hold>();
  const alone: Hold[] = [];
  for (const op of ops) {
    const hold = holdOf(op);
    if (!hold) continue;
    if (op.holderId === undefined) {
      alone.push(hold);
      continue;
    }
    const known = shared.get(op.holderId);
    shared.set(op.holderId, known ? merged(known, hold) : hold);
  }
  return [...shared.values(), ...alone].sort(byStart);
});

/** On equal starts the shorter hold comes first: a hold of zero length then does not overlap the next one. */
function byStart(a: Hold, b: Hold): number {
  return a.fromNs - b.fromNs || a.toNs - b.toNs;
}

function holdOf(op: Operation): Hold | null {
  if (op.grantedNs === undefined) return null;
  const toNs = isRolledBack(op) ? endOfRolledBack(op, op.grantedNs) : endOfHold(op, op.grantedNs);
  if (toNs === null) return null;
  return { op, fromNs: op.grantedNs, toNs: Math.min(toNs, op.leaseLostNs ?? toNs), fencingToken: op.fencingToken };
}

/** The release, or the last recorded time if no release was recorded. */
function endOfHold(op: Operation, grantedNs: number): number {
  return op.releasedNs ?? op.answeredNs ?? op.committedNs ?? op.writeNs ?? op.readNs ?? grantedNs;
}

function isRolledBack({ transactional, outcome }: Operation): boolean {
  return transactional && (outcome === "error" || outcome === "unknown");
}

/**
 * A failed transaction held its lock until the server ended it. A busy node records each answer late: the server may
 * have ended the transaction, and granted the lock to the next holder, before the node recorded the grant. An answered
 * read proves the lock at the grant, because the node sent the read after it. No later time is proven, and a later
 * holder cannot have been harmed: the server undid the writes. Null without an answered read: no time is proven.
 */
function endOfRolledBack({ readNs }: Operation, grantedNs: number): number | null {
  return readNs === undefined ? null : grantedNs;
}

function merged(a: Hold, b: Hold): Hold {
  const first = a.fromNs <= b.fromNs ? a : b;
  return {
    op: first.op,
    fromNs: first.fromNs,
    toNs: Math.max(a.toNs, b.toNs),
    fencingToken: a.fencingToken ?? b.fencingToken,
  };
}
