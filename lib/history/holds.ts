import { memoize } from "./memoize";
import type { Operation } from "./operation";

/** A time during which somebody believed that the lock was theirs. */
export interface Hold {
  /** The purchase that got it; with a shared hold, the first. */
  readonly op: Operation;
  readonly fromNs: number;
  readonly toNs: number;
  readonly fencingToken: bigint | undefined;
}

/**
 * The holds of one host's purchases, by their beginning. Purchases that share a `holderId` (a nested entry, a batch) share
 * the hold. A hold ends at its release, or when its holder learned that the lease was lost.
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
  return [...shared.values(), ...alone].sort(byBeginning);
});

/** Equal beginnings are put so that holds which can lie one behind the other do. */
function byBeginning(a: Hold, b: Hold): number {
  return a.fromNs - b.fromNs || a.toNs - b.toNs;
}

function holdOf(op: Operation): Hold | null {
  if (op.grantedNs === undefined) return null;
  const end = endOfHold(op, op.grantedNs);
  const toNs = Math.min(end, op.leaseLostNs ?? end);
  return { op, fromNs: op.grantedNs, toNs, fencingToken: op.fencingToken };
}

/**
 * Where no release was seen, the last sign of life. A transaction that failed held until the server ended it, which is
 * known to be after its last answered statement only: from then on nobody else's hold beside it harms anything.
 */
function endOfHold(op: Operation, grantedNs: number): number {
  const isUndone = op.transactional && (op.outcome === "error" || op.outcome === "unknown");
  if (isUndone) return op.readNs ?? grantedNs;
  return op.releasedNs ?? op.answeredNs ?? op.committedNs ?? op.writeNs ?? op.readNs ?? grantedNs;
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
