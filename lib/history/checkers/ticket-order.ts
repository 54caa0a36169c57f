import { plural } from "../../services/number-text";
import { DemandPrefixSum } from "../demand-prefix-sum";
import { type CheckResult, type Finding, LINE_MAY_BE_MISSING, withDoubts } from "../finding";
import { firstFindings } from "../first-findings";
import { type GiveBacks, giveBacksOf, mayGiveBack } from "../give-backs";
import { type History, type HistoryStage, rowsOf } from "../history";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";
import { impossibleSalesIn, impossibleValuesIn } from "./impossible-values";

/**
 * Checks linearizability: can a counter that falls from `initial` have given these answers in some order that respects
 * real time (a purchase answered before another was requested comes first)? A purchase of unknown outcome may have
 * happened at any time after its request, or never; a row proves that it happened. "Ticket" is the counter value that a
 * purchase saw.
 *
 * Exact for purchases of one unit without recorded values, together with the check for oversold. For other histories
 * every finding is proof, but some violations are missed. Values that give-backs cannot explain are proof in incomplete
 * histories too. O(n log n).
 */
export function checkTicketOrder(history: History): CheckResult {
  const rises = risesIn(history);
  // A premature "sold out" is both a shortfall and the start of a rise: report it once.
  const reported = new Set(rises.flatMap(({ before, seen }) => (before ? [before.op, seen.op] : [seen.op])));
  const found = [...rises, ...shortfallsIn(history).filter(({ seen }) => !reported.has(seen.op))];
  const initial = history.run?.initial ?? 0;
  const result = firstFindings(found, {
    timeOf: ({ seen }) => ({ op: seen.op, ns: answerNs(seen) }),
    toFinding: (disorder) => findingOf(disorder, initial),
  });
  const hasGaps = giveBacksOf(history).mayBeMissing;
  const impossible = impossibleResult(history, hasGaps ? new Set() : new Set(found.map(({ seen }) => seen.op)));
  if (hasGaps) return withDoubts(impossible, result, LINE_MAY_BE_MISSING);
  return { count: result.count + impossible.count, findings: [...result.findings, ...impossible.findings] };
}

function impossibleResult(history: History, reported: ReadonlySet<Operation>): CheckResult {
  const values = impossibleValuesIn(history).filter(({ op }) => !reported.has(op));
  const isUnreported = values.length === 0 && reported.size === 0;
  return firstFindings(isUnreported ? impossibleSalesIn(history) : values, {
    timeOf: ({ op }) => ({ op, ns: op.answeredNs ?? op.invokedNs }),
    toFinding: ({ op, sentence }): Finding => ({
      kind: "ticketOrder",
      opIds: [op.opId],
      atNs: clockReading(op, op.answeredNs ?? op.invokedNs),
      sentence,
    }),
  });
}

/**
 * A rise: the counter was higher than `before` had left it. A shortfall: lower than `possiblyTaken` units can explain.
 */
interface Disorder {
  readonly seen: Observation;
  /** Null for a shortfall. */
  readonly before: Remainder | null;
  readonly possiblyTaken: number;
}

/** A purchase and the counter value after it. */
type Remainder = Pick<Observation, "op" | "leftAtMost">;

/** One array per host. */
const observationsOf = memoize((history: History): readonly (readonly Observation[])[] => {
  return [...byHost(history.ops).values()].map((ops) => observationsIn(history, ops));
});

/** One array per host, sorted by end. */
const byEndIn = memoize((history: History): readonly (readonly Observation[])[] => {
  return observationsOf(history).map((observations) => [...observations].sort(byEnd));
});

const risesIn = memoize((history: History): readonly Disorder[] => {
  const sortedByEnd = byEndIn(history);
  return observationsOf(history).flatMap((seen, host) =>
    findRises(seen, sortedByEnd[host] ?? [], giveBacksOf(history)),
  );
});

const shortfallsIn = memoize((history: History): readonly Disorder[] => {
  return history.isComplete ? findShortfalls(history, byEndIn(history).flat().sort(byEnd)) : [];
});

/** The slowest check, as stages that a caller can run one at a time: `checkTicketOrder` then finds their results. */
export const TICKET_ORDER_STAGES: readonly HistoryStage[] = [
  observationsOf,
  giveBacksOf,
  byEndIn,
  risesIn,
  shortfallsIn,
  impossibleValuesIn,
];

/** The counter as one purchase saw it, at some time between its request and its answer. */
interface Observation {
  readonly op: Operation;
  /** The latest time at which it can have taken effect; undefined if there is no limit. */
  readonly doneNs: number | undefined;
  /** Lower bound of the counter before the purchase. */
  readonly atLeast: number;
  /** Upper bound of the counter before the purchase; Infinity if unknown. */
  readonly atMost: number;
  /** Upper bound of the counter after the purchase; Infinity if unknown. */
  readonly leftAtMost: number;
}

function observationsIn(history: History, ops: readonly Operation[]): Observation[] {
  const observations: Observation[] = [];
  for (const op of ops) {
    const seen = observe(history, op);
    if (seen) observations.push(seen);
  }
  return observations;
}

function observe(history: History, op: Operation): Observation | null {
  // Other answers leave open whether the purchase still takes effect.
  const doneNs = op.outcome === "sold" || op.outcome === "sold_out" ? op.answeredNs : undefined;
  if (history.soldOps.has(op)) {
    const ticket = ticketOf(op);
    if (ticket === undefined && mayRepeatMissingCall(history, op)) return null;
    if (ticket === undefined) return { op, doneNs, atLeast: op.quantity, atMost: Infinity, leftAtMost: Infinity };
    return { op, doneNs, atLeast: ticket, atMost: ticket, leftAtMost: ticket - op.quantity };
  }
  if (op.outcome !== "sold_out") return null;
  const seen = op.readValue !== undefined && op.readValue < op.quantity ? op.readValue : undefined;
  const atMost = seen ?? op.quantity - 1;
  return { op, doneNs, atLeast: seen ?? 0, atMost, leftAtMost: atMost };
}

/** True if the first call of this purchase may be missing: it may have sold the unit long before this repeat. */
function mayRepeatMissingCall(history: History, op: Operation): boolean {
  return !history.isComplete && op.idempotencyKey !== undefined && rowsOf(history, op).length === 0;
}

/** The counter before the purchase. The written value is more exact than the read if the write was relative. */
function ticketOf(op: Operation): number | undefined {
  return op.writtenValue === undefined ? op.readValue : op.writtenValue + op.quantity;
}

/**
 * Finds purchases that saw a higher counter than an earlier one left: a sale after "sold out", or an older ticket after
 * a newer.
 */
function findRises(
  observations: readonly Observation[],
  sortedByEnd: readonly Observation[],
  giveBacks: GiveBacks,
): Disorder[] {
  const byRequest = [...observations].sort((a, b) => a.op.invokedNs - b.op.invokedNs);
  const found: Disorder[] = [];
  let lowest: Remainder | null = null;
  let next = 0;
  for (const seen of byRequest) {
    for (let done = sortedByEnd[next]; done && endOf(done) < seen.op.invokedNs; done = sortedByEnd[next]) {
      if (!lowest || done.leftAtMost < lowest.leftAtMost) lowest = done;
      next += 1;
    }
    if (!lowest || seen.atLeast <= lowest.leftAtMost + giveBacks.unitsBefore(seen.op)) continue;
    found.push({ seen, before: lowest, possiblyTaken: 0 });
    // Compare later purchases with the higher counter, so that one rise gives one finding.
    lowest = { op: lowest.op, leftAtMost: seen.atLeast };
  }
  return found;
}

/**
 * Finds purchases that saw a lower counter than all requests so far can explain: refused too early, or units vanished.
 */
function findShortfalls(history: History, sortedByEnd: readonly Observation[]): Disorder[] {
  const initial = history.run?.initial;
  if (initial === undefined) return [];
  const mayTake = (op: Operation) => history.soldOps.has(op) || op.outcome === "unknown" || mayGiveBack(history, op);
  const demand = new Map(
    [...byHost(history.ops)].map(([host, ops]) => [host, new DemandPrefixSum(ops.filter(mayTake))]),
  );
  const all = [...demand.values()].reduce((sum, { total }) => sum + total, 0);
  const possiblyTaken = ({ op, doneNs }: Observation) => {
    const onHost = demand.get(op.host);
    const elsewhere = all - (onHost?.total ?? 0);
    return elsewhere + (onHost?.at(doneNs) ?? 0) - (mayTake(op) ? op.quantity : 0);
  };
  const found: Disorder[] = [];
  let missing = 0;
  for (const seen of sortedByEnd) {
    const taken = possiblyTaken(seen);
    if (initial - taken - missing <= seen.atMost) continue;
    // Vanished units stay missing: report only additional ones.
    missing = initial - taken - seen.atMost;
    found.push({ seen, before: null, possiblyTaken: taken });
  }
  return found;
}

function endOf({ doneNs }: Observation): number {
  return doneNs ?? Number.MAX_VALUE;
}

function byEnd(a: Observation, b: Observation): number {
  return endOf(a) - endOf(b);
}

function describeRise({ op: first, leftAtMost }: Remainder, seen: Observation): string {
  const { node, buyerId, outcome } = seen.op;
  const from = seen.atMost === Infinity ? "" : ` from ${seen.atLeast} left`;
  const then = outcome === "sold_out" ? `found ${seen.atLeast} left for ${buyerId}` : `sold to ${buyerId}${from}`;
  const before =
    first.outcome === "sold_out"
      ? `answered "sold out" to ${first.buyerId}`
      : `sold to ${first.buyerId} and left ${leftAtMost}`;
  return `${node} ${then}, although ${first.node} had ${before} before ${buyerId}'s request.`;
}

function describeShortfall({ op, atMost }: Observation, taken: number, initial: number): string {
  const answer =
    op.outcome === "sold_out" ? `answered "sold out" to ${op.buyerId}` : `sold to ${op.buyerId} from ${atMost} left`;
  return `${op.node} ${answer} when at most ${taken} of ${plural(initial, "unit")} could have been sold.`;
}

function answerNs({ op }: Observation): number {
  return op.answeredNs ?? op.invokedNs;
}

function findingOf({ seen, before, possiblyTaken }: Disorder, initial: number): Finding {
  return {
    kind: "ticketOrder",
    opIds: before ? [before.op.opId, seen.op.opId] : [seen.op.opId],
    atNs: clockReading(seen.op, answerNs(seen)),
    sentence: before ? describeRise(before, seen) : describeShortfall(seen, possiblyTaken, initial),
  };
}
