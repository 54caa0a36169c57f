import { describeReadsAndWrites } from "../describe";
import { type CheckResult, type Finding, plural } from "../finding";
import { firstFindings } from "../first-findings";
import { giveBacksOf } from "../give-backs";
import type { History } from "../history";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { balanceOf } from "./conservation";

/** Two purchases that computed their writes from one value: the later write undid the earlier. */
export interface LostUpdate {
  readonly first: Operation;
  readonly second: Operation;
}

/**
 * Orders that did not move the stock: max(0, orders - (initial - final)), and the pairs that did it. A pair proves a
 * lost update also where the sums agree because as many units vanished elsewhere. O(n log n).
 */
export function checkLostUpdates(history: History): CheckResult {
  const balance = balanceOf(history);
  const missing = balance ? Math.max(0, balance.ordered - balance.taken) : 0;
  const pairs = lostUpdatesIn(history);
  const giveBacks = giveBacksOf(history);
  const proven = missing > 0 ? pairs : pairs.filter(({ second }) => giveBacks.unitsBefore(second) === 0);
  const { findings } = firstFindings(proven, {
    timeOf: ({ second }) => ({ op: second, ns: writtenNs(second) }),
    toFinding: findingOf,
  });
  return { count: Math.max(missing, proven.length), findings: proven.length > 0 ? findings : unrecorded(missing) };
}

function unrecorded(missing: number): Finding[] {
  if (missing === 0) return [];
  const sentence = `${plural(missing, "order")} did not move the stock; which is not recorded.`;
  return [{ kind: "lostUpdates", opIds: [], atNs: null, sentence }];
}

/** Every purchase that wrote from a value another had already written from, with the first that did. */
export const lostUpdatesIn = memoize((history: History): readonly LostUpdate[] => {
  const firstByRead = new Map<number, Operation>();
  const found: LostUpdate[] = [];
  for (const op of absoluteWriters(history)) {
    const readValue = op.readValue ?? 0;
    const first = firstByRead.get(readValue);
    if (first) found.push({ first, second: op });
    else firstByRead.set(readValue, op);
  }
  return found;
});

/** Purchases that wrote "what I read, less what I took", as they were committed. */
function absoluteWriters(history: History): Operation[] {
  const writers = [...history.soldOps].filter(
    (op) => op.readValue !== undefined && op.writtenValue === op.readValue - op.quantity && op.writeAccepted !== false,
  );
  return writers.sort((a, b) => writtenNs(a) - writtenNs(b));
}

function writtenNs(op: Operation): number {
  return op.committedNs ?? op.writeNs ?? op.answeredNs ?? op.invokedNs;
}

function findingOf({ first, second }: LostUpdate): Finding {
  const [a, b] = readsInOrder(first, second);
  return {
    kind: "lostUpdates",
    opIds: [a.opId, b.opId],
    atNs: clockReading(second, writtenNs(second)),
    sentence: `${describeReadsAndWrites(a, b)}.`,
  };
}

function readsInOrder(first: Operation, second: Operation): readonly [Operation, Operation] {
  if (first.host !== second.host || first.readNs === undefined || second.readNs === undefined) return [first, second];
  return second.readNs < first.readNs ? [second, first] : [first, second];
}
