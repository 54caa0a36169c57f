import { actorNames } from "../describe";
import { type CheckResult, type Finding, LINE_MAY_BE_MISSING, withDoubts } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { type Hold, holdsOf } from "../holds";
import { byHost } from "../intervals";
import { clockReading, type Operation } from "../operation";

/**
 * Finds grants whose fencing token is not above every earlier grant's token. Each host's clock orders its grants;
 * between hosts only a repeated token is found. O(n log n).
 */
export function checkFencingOrder(history: History): CheckResult {
  const hosts = [...byHost(history.ops).values()].map(fencedHolds);
  const found = [...hosts.flatMap(notIncreasing), ...(hosts.length > 1 ? repeatedOnAnotherHost(hosts) : [])];
  const options = {
    timeOf: ({ later }: TokenDisorder) => ({ op: later.op, ns: later.fromNs }),
    toFinding: findingOf,
  };
  const unproven = new Set(found.filter((disorder) => mayBeNested(history, disorder)));
  const proven = found.filter((disorder) => !unproven.has(disorder));
  return withDoubts(firstFindings(proven, options), firstFindings([...unproven], options), LINE_MAY_BE_MISSING);
}

/** True if the later grant may be a nested entry of a hold whose first line is missing. */
function mayBeNested({ isComplete }: History, { earlier, later }: TokenDisorder): boolean {
  return !isComplete && later.op.holderId !== undefined && tokenOf(later) < tokenOf(earlier);
}

interface TokenDisorder {
  readonly earlier: Hold;
  readonly later: Hold;
}

function notIncreasing(holds: readonly Hold[]): TokenDisorder[] {
  const found: TokenDisorder[] = [];
  let newest: Hold | null = null;
  for (const hold of holds) {
    if (!newest || tokenOf(hold) > tokenOf(newest)) newest = hold;
    else found.push({ earlier: newest, later: hold });
  }
  return found;
}

function repeatedOnAnotherHost(hosts: readonly (readonly Hold[])[]): TokenDisorder[] {
  const found: TokenDisorder[] = [];
  const firstByToken = new Map<bigint, Hold>();
  for (const hold of hosts.flat()) {
    const twin = firstByToken.get(tokenOf(hold));
    if (!twin) firstByToken.set(tokenOf(hold), hold);
    else if (twin.op.host !== hold.op.host) found.push({ earlier: twin, later: hold });
  }
  return found;
}

/** Sorted by grant; of two grants at the same instant, the lower token counts as the first. */
function fencedHolds(ops: readonly Operation[]): Hold[] {
  const fenced = holdsOf(ops).filter((hold) => hold.fencingToken !== undefined);
  return fenced.sort((a, b) => a.fromNs - b.fromNs || (tokenOf(a) < tokenOf(b) ? -1 : 1));
}

function tokenOf(hold: Hold): bigint {
  return hold.fencingToken ?? -1n;
}

function findingOf({ earlier, later }: TokenDisorder): Finding {
  const [first, second] = actorNames(earlier.op, later.op);
  const sentence =
    earlier.fencingToken === later.fencingToken
      ? `${first} and ${second} both received fencing token ${later.fencingToken}.`
      : `${second} received fencing token ${later.fencingToken} after ${first} had received ${earlier.fencingToken}.`;
  return {
    kind: "fencingOrder",
    opIds: [earlier.op.opId, later.op.opId],
    atNs: clockReading(later.op, later.fromNs),
    sentence,
  };
}
