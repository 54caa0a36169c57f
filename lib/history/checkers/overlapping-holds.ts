import { plural } from "../../services/number-text";
import { describeOverlap } from "../describe";
import { type CheckResult, type Finding, type FindingPart, grouped, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import { type History, hasAcceptedWrite } from "../history";
import { type Hold, holdsOf } from "../holds";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { lostUpdatesIn } from "./lost-updates";
import { staleWritesIn } from "./stale-writes";

/** `second` acquired the lock while `first` held it. */
export interface Overlap {
  readonly first: Operation;
  readonly second: Operation;
}

/**
 * Finds holds that began before an earlier one ended. They are violations unless fencing prevented harm: every accepted
 * write carried a token that the resource checks, and no stale write was accepted. O(n log n).
 */
export function checkOverlappingHolds(history: History): CheckResult {
  const overlaps = overlapsIn(history);
  if (overlaps.length === 0) return NOTHING_FOUND;
  const isHarmless = isFenced(history, overlaps);
  const { findings } = firstFindings(byHolder(overlaps), {
    timeOf: ([{ second }]) => ({ op: second, ns: second.grantedNs }),
    toFinding: (group) => findingOf(group, isHarmless),
  });
  return { count: isHarmless ? 0 : overlaps.length, findings };
}

/** All overlaps of one holder, in order of time. They have one cause: its hold lasted too long. */
type HolderOverlaps = readonly [Overlap, ...Overlap[]];

function byHolder(overlaps: readonly Overlap[]): HolderOverlaps[] {
  const holders = new Map<Operation, [Overlap, ...Overlap[]]>();
  for (const overlap of overlaps) {
    const known = holders.get(overlap.first);
    if (known) known.push(overlap);
    else holders.set(overlap.first, [overlap]);
  }
  return [...holders.values()];
}

/** Each hold that overlaps an earlier one, once. */
export const overlapsIn = memoize((history: History): readonly Overlap[] => {
  const found = new Map<Operation, Overlap>();
  const hosts = byHost(history.ops);
  for (const ops of hosts.values()) {
    for (const overlap of byClock(holdsOf(ops))) found.set(overlap.second, overlap);
  }
  if (hosts.size < 2) return [...found.values()];
  for (const overlap of byDatabaseOrder(history)) {
    if (!found.has(overlap.second)) found.set(overlap.second, overlap);
  }
  return [...found.values()];
});

/** Compares times, so all holds must be of one host. */
function byClock(holds: readonly Hold[]): Overlap[] {
  const found: Overlap[] = [];
  let longest: Hold | null = null;
  for (const hold of holds) {
    if (longest && hold.fromNs < longest.toNs) found.push({ first: longest.op, second: hold.op });
    if (!longest || hold.toNs > longest.toNs) longest = hold;
  }
  return found;
}

/**
 * Between hosts the database's order is the proof. If two holders wrote from the same value, both were between read and
 * write when the first write landed. If an older token wrote after a newer token, its holder still held the lock.
 */
function byDatabaseOrder(history: History): Overlap[] {
  const lost = lostUpdatesIn(history).map(({ first, second }) => ({ first, second }));
  const stale = staleWritesIn(history).flatMap(({ op, newer }) => (newer ? [{ first: op, second: newer }] : []));
  return [...lost, ...stale].filter(
    ({ first, second }) =>
      first.host !== second.host && first.grantedNs !== undefined && second.grantedNs !== undefined,
  );
}

function isFenced(history: History, overlaps: readonly Overlap[]): boolean {
  if (history.run?.fencing === false) return false;
  const carriesToken = (op: Operation) => op.fencingToken !== undefined;
  return (
    overlaps.every(({ first, second }) => carriesToken(first) && carriesToken(second)) &&
    history.ops.every((op) => carriesToken(op) || !hasAcceptedWrite(history, op)) &&
    staleWritesIn(history).length === 0
  );
}

function findingOf(group: HolderOverlaps, isHarmless: boolean): Finding {
  const [overlap] = group;
  const others = group.length - 1;
  const sentence = `${describeOverlap(overlap.first, overlap.second)}${others > 0 ? ` So did ${plural(others, "other")}.` : ""}`;
  return {
    kind: isHarmless ? "fencedOverlap" : "overlappingHolds",
    ...partOf(overlap),
    sentence: isHarmless ? `${sentence} Fencing prevented harm: no stale write was accepted.` : sentence,
    ...grouped(group, partOf),
  };
}

function partOf({ first, second }: Overlap): FindingPart {
  const opIds = [first.opId, second.opId];
  return { opIds, atNs: clockReading(second, second.grantedNs), sentence: describeOverlap(first, second) };
}
