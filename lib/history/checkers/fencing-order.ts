import { actorNames } from "../describe";
import type { CheckResult, Finding } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { type Hold, holdsOf } from "../holds";
import { byHost } from "../intervals";
import { clockReading, type Operation } from "../operation";

/**
 * Holds whose fencing token is not above every earlier grant's: by each host's clock, and between hosts where two holds
 * carry the same token. O(n log n).
 */
export function checkFencingOrder(history: History): CheckResult {
  const hosts = [...byHost(history.ops).values()].map(fencedHolds);
  const found = [...hosts.flatMap(notRising), ...(hosts.length > 1 ? repeatedElsewhere(hosts) : [])];
  return firstFindings(found, { timeOf: ({ later }) => ({ op: later.op, ns: later.fromNs }), toFinding: findingOf });
}

/** Two grants in the wrong order of their tokens, or with one token. */
interface Disorder {
  readonly earlier: Hold;
  readonly later: Hold;
}

function notRising(holds: readonly Hold[]): Disorder[] {
  const found: Disorder[] = [];
  let newest: Hold | null = null;
  for (const hold of holds) {
    if (!newest || tokenOf(hold) > tokenOf(newest)) newest = hold;
    else found.push({ earlier: newest, later: hold });
  }
  return found;
}

function repeatedElsewhere(hosts: readonly (readonly Hold[])[]): Disorder[] {
  const found: Disorder[] = [];
  const firstByToken = new Map<bigint, Hold>();
  for (const hold of hosts.flat()) {
    const twin = firstByToken.get(tokenOf(hold));
    if (!twin) firstByToken.set(tokenOf(hold), hold);
    else if (twin.op.host !== hold.op.host) found.push({ earlier: twin, later: hold });
  }
  return found;
}

/** By their grants; of two granted at one instant the older token is taken to have come first. */
function fencedHolds(ops: readonly Operation[]): Hold[] {
  const fenced = holdsOf(ops).filter((hold) => hold.fencingToken !== undefined);
  return fenced.sort((a, b) => a.fromNs - b.fromNs || (tokenOf(a) < tokenOf(b) ? -1 : 1));
}

function tokenOf(hold: Hold): bigint {
  return hold.fencingToken ?? -1n;
}

function findingOf({ earlier, later }: Disorder): Finding {
  const [first, second] = actorNames(earlier.op, later.op);
  const sentence =
    earlier.fencingToken === later.fencingToken
      ? `${first} and ${second} were both granted fencing token ${later.fencingToken}.`
      : `${second} was granted fencing token ${later.fencingToken} after ${first} had been granted ${earlier.fencingToken}.`;
  return {
    kind: "fencingOrder",
    opIds: [earlier.op.opId, later.op.opId],
    atNs: clockReading(later.op, later.fromNs),
    sentence,
  };
}
