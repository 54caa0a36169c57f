import { describeReadsAndWrites } from "../describe";
import { type CheckResult, type Finding, LINE_MAY_BE_MISSING, NOTHING_FOUND, plural, withDoubts } from "../finding";
import { firstFindings } from "../first-findings";
import { giveBacksOf } from "../give-backs";
import type { History } from "../history";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { balanceOf } from "./conservation";

/** Two purchases that computed their writes from the same value: the second write overwrote the first. */
export interface LostUpdate {
  readonly first: Operation;
  readonly second: Operation;
}

/**
 * Counts orders that did not change the stock, max(0, orders - (initial - final)), and finds the pairs of writes that
 * caused it. A pair proves a lost update even if the totals agree, because other units may have vanished. O(n log n).
 */
export function checkLostUpdates(history: History): CheckResult {
  const balance = balanceOf(history);
  const missing = balance ? Math.max(0, balance.ordered - balance.taken) : 0;
  const pairs = lostUpdatesIn(history);
  const giveBacks = giveBacksOf(history);
  const proven = missing > 0 ? pairs : pairs.filter(({ second }) => giveBacks.unitsBefore(second) === 0);
  const result = firstFindings(proven, {
    timeOf: ({ second }) => ({ op: second, ns: writtenNs(second) }),
    toFinding: findingOf,
  });
  if (missing === 0 && giveBacks.mayBeMissing) return withDoubts(NOTHING_FOUND, result, LINE_MAY_BE_MISSING);
  const findings = proven.length > 0 ? result.findings : totalsFinding(missing);
  return { count: Math.max(missing, proven.length), findings };
}

function totalsFinding(missing: number): Finding[] {
  if (missing === 0) return [];
  const sentence = `${plural(missing, "order")} did not change the stock, but the history does not show which.`;
  return [{ kind: "lostUpdates", opIds: [], atNs: null, sentence }];
}

/** Every purchase that computed its write from a value already used by another, paired with the first that used it. */
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

/** Purchases that wrote "value read minus quantity", in commit order. */
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
