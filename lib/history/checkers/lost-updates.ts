import { plural } from "../../services/number-text";
import { describeReadsAndWrites } from "../describe";
import {
  type CheckResult,
  type Finding,
  type FindingPart,
  grouped,
  LINE_MAY_BE_MISSING,
  NOTHING_FOUND,
  withDoubts,
} from "../finding";
import { firstFindings } from "../first-findings";
import { giveBacksOf } from "../give-backs";
import { type History, orderPlaces } from "../history";
import { type LateWrite, type LostUpdate, type LostUpdates, lateWritesOf } from "../late-writes";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { balanceOf } from "./conservation";

/**
 * Counts ordered units that did not leave the stock, max(0, orders - (initial - final)), and finds the pairs of writes that
 * caused it. A pair proves a lost update even if the totals agree, because other units may have vanished. O(n log n).
 */
export function checkLostUpdates(history: History): CheckResult {
  const missing = missingUnits(history);
  const pairs = provenPairs(history, missing).length;
  const result = firstFindings(lateWritesIn(history), {
    timeOf: ({ late }) => ({ op: late, ns: writtenNs(late) }),
    toFinding: findingOf,
  });
  if (missing === 0 && giveBacksOf(history).mayBeMissing) return withDoubts(NOTHING_FOUND, result, LINE_MAY_BE_MISSING);
  return { count: Math.max(missing, pairs), findings: pairs > 0 ? result.findings : totalsFinding(missing) };
}

/** Ordered units that did not leave the stock. */
function missingUnits(history: History): number {
  const balance = balanceOf(history);
  return balance ? Math.max(0, balance.ordered - balance.taken) : 0;
}

/**
 * If the totals agree, a unit that was given back may explain why a value was read twice. Values of a counter prove
 * nothing about the row: `checkCounterDrift` reports them.
 */
function provenPairs(history: History, missing: number): readonly LostUpdate[] {
  if (isCounted(history)) return [];
  return missing > 0 ? lostUpdatesIn(history) : unexplainedRepeatsIn(history);
}

/** Whether the recorded values are those of a counter outside the row. */
export function isCounted({ end }: History): boolean {
  return end?.counter !== undefined;
}

/** The pairs that no unit given back before the second read can explain. */
export function unexplainedRepeatsIn(history: History): readonly LostUpdate[] {
  const giveBacks = giveBacksOf(history);
  return lostUpdatesIn(history).filter(({ second }) => giveBacks.unitsBefore(second) === 0);
}

/** The writes that caused the lost updates. Together they cover no more than the totals or the pairs prove. */
export const lateWritesIn = memoize((history: History) => {
  const missing = missingUnits(history);
  const pairs = provenPairs(history, missing);
  const { writers, isDatabaseOrder } = absoluteWriters(history);
  return lateWritesOf({ pairs, writers, isDatabaseOrder, unpaired: Math.max(0, missing - pairs.length) });
});

function totalsFinding(missing: number): Finding[] {
  if (missing === 0) return [];
  const sentence = `${plural(missing, "ordered unit")} did not leave the stock, but the history does not show which.`;
  return [{ kind: "lostUpdates", opIds: [], atNs: null, sentence }];
}

/** Every purchase that computed its write from a value already used by another, paired with the first that used it. */
export const lostUpdatesIn = memoize((history: History): readonly LostUpdate[] => {
  const firstByRead = new Map<number, Operation>();
  const found: LostUpdate[] = [];
  for (const op of absoluteWriters(history).writers) {
    const readValue = op.readValue ?? 0;
    const first = firstByRead.get(readValue);
    if (first) found.push({ first, second: op });
    else firstByRead.set(readValue, op);
  }
  return found;
});

/** Purchases that wrote "value read minus quantity", in the order of their rows, else of their confirmations. */
const absoluteWriters = memoize((history: History): Pick<LostUpdates, "writers" | "isDatabaseOrder"> => {
  const writers = [...history.soldOps].filter(
    (op) => op.readValue !== undefined && op.writtenValue === op.readValue - op.quantity && op.writeAccepted !== false,
  );
  const places = orderPlaces(history);
  const placeOf = ({ opId }: Operation) => places.get(opId) ?? 0;
  const isDatabaseOrder = writers.every(({ opId }) => places.has(opId));
  const keyOf = isDatabaseOrder ? placeOf : writtenNs;
  return { writers: writers.sort((a, b) => keyOf(a) - keyOf(b)), isDatabaseOrder };
});

function writtenNs(op: Operation): number {
  return op.committedNs ?? op.writeNs ?? op.answeredNs ?? op.invokedNs;
}

function findingOf({ late, undone }: LateWrite): Finding {
  const [a, b] = readsInOrder(undone[0], late);
  const { node, readValue, writtenValue } = late;
  return {
    kind: "lostUpdates",
    opIds: [a.opId, b.opId],
    atNs: clockReading(late, writtenNs(late)),
    sentence:
      undone.length === 1
        ? `${describeReadsAndWrites(a, b)}.`
        : `${node} read ${readValue}, then ${undone.length} other sales changed the stock, then ${node} wrote ${writtenValue} and undid them.`,
    ...grouped(undone, undonePart),
  };
}

function undonePart(op: Operation): FindingPart {
  const { opId, node, buyerId, readValue, writtenValue } = op;
  const sentence = `The sale of ${node} to ${buyerId} was undone: it read ${readValue} and wrote ${writtenValue}.`;
  return { opIds: [opId], atNs: clockReading(op, writtenNs(op)), sentence };
}

function readsInOrder(first: Operation, second: Operation): readonly [Operation, Operation] {
  if (first.host !== second.host || first.readNs === undefined || second.readNs === undefined) return [first, second];
  return second.readNs < first.readNs ? [second, first] : [first, second];
}
