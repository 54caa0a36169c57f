import { DemandPrefixSum } from "../demand-prefix-sum";
import type { CheckResult, Finding } from "../finding";
import { firstFindings } from "../first-findings";
import { type GiveBacks, giveBacksOf, mayGiveBack } from "../give-backs";
import type { History } from "../history";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";

/**
 * Tickets against real time: is there an order of the purchases, in which none comes before one that was answered before
 * it was asked, that a counter falling from `initial` could have served? (Linearizability.) A purchase whose outcome is
 * not known may have happened at any moment after it was asked, or not at all; a row shows that it did.
 *
 * Exact for purchases of one unit that recorded no values, together with the check for oversold; for others every
 * finding is proof, but not every disorder is found. O(n log n).
 */
export function checkTicketOrder(history: History): CheckResult {
  const high = risesIn(history);
  const low = lacksIn(history);
  // Who was "sold out" too early and passed over later is one disorder, not two.
  const told = new Set(high.flatMap(({ before, seen }) => (before ? [before.op, seen.op] : [seen.op])));
  const found = [...high, ...low.filter(({ seen }) => !told.has(seen.op))];
  const initial = history.run?.initial ?? 0;
  return firstFindings(found, {
    timeOf: ({ seen }) => ({ op: seen.op, ns: answerNs(seen) }),
    toFinding: (disorder) => findingOf(disorder, initial),
  });
}

/** The counter stood higher than `before` had left it, or lower than `possiblyTaken` units could have brought it. */
interface Disorder {
  readonly seen: Observation;
  readonly before: Left | null;
  readonly possiblyTaken: number;
}

/** Who brought the counter how low. */
type Left = Pick<Observation, "op" | "leftAtMost">;

/** By host. */
const observationsOf = memoize((history: History): readonly (readonly Observation[])[] => {
  return [...byHost(history.ops).values()].map((ops) => observationsIn(history, ops));
});

/** By host, in the order in which they were over. */
const endedIn = memoize((history: History): readonly (readonly Observation[])[] => {
  return observationsOf(history).map((observations) => [...observations].sort(byEnd));
});

const risesIn = memoize((history: History): readonly Disorder[] => {
  const ended = endedIn(history);
  return observationsOf(history).flatMap((seen, host) => tooHigh(seen, ended[host] ?? [], giveBacksOf(history)));
});

const lacksIn = memoize((history: History): readonly Disorder[] => {
  return history.isComplete ? tooLow(history, endedIn(history).flat().sort(byEnd)) : [];
});

/** The longest of all checks, in parts that can be asked one by one beforehand. */
export const TICKET_ORDER_STAGES: readonly ((history: History) => unknown)[] = [
  observationsOf,
  giveBacksOf,
  endedIn,
  risesIn,
  lacksIn,
];

/** What a purchase saw of the counter, between being asked and being answered. */
interface Observation {
  readonly op: Operation;
  /** When it was over for certain; undefined when it may still take effect. */
  readonly doneNs: number | undefined;
  /** The counter stood at least here before it. */
  readonly atLeast: number;
  /** The counter stood at most here before it, where that is known. */
  readonly atMost: number;
  /** The counter stood at most here after it; not known for a sale without values. */
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
  // Only an answer that tells what became of it ends a purchase.
  const doneNs = op.outcome === "sold" || op.outcome === "sold_out" ? op.answeredNs : undefined;
  if (history.soldOps.has(op)) {
    const ticket = ticketOf(op);
    if (ticket === undefined) return { op, doneNs, atLeast: op.quantity, atMost: Infinity, leftAtMost: Infinity };
    return { op, doneNs, atLeast: ticket, atMost: ticket, leftAtMost: ticket - op.quantity };
  }
  if (op.outcome !== "sold_out") return null;
  const seen = op.readValue !== undefined && op.readValue < op.quantity ? op.readValue : undefined;
  const atMost = seen ?? op.quantity - 1;
  return { op, doneNs, atLeast: seen ?? 0, atMost, leftAtMost: atMost };
}

/** The counter as this purchase found it. What it wrote tells better than what it read, where the write was relative. */
function ticketOf(op: Operation): number | undefined {
  return op.writtenValue === undefined ? op.readValue : op.writtenValue + op.quantity;
}

/** The counter stood higher than an earlier purchase had left it: a sale after "sold out", or an older ticket after a newer. */
function tooHigh(
  observations: readonly Observation[],
  ended: readonly Observation[],
  giveBacks: GiveBacks,
): Disorder[] {
  const asked = [...observations].sort((a, b) => a.op.invokedNs - b.op.invokedNs);
  const found: Disorder[] = [];
  let lowest: Left | null = null;
  let next = 0;
  for (const seen of asked) {
    for (let over = ended[next]; over && endOf(over) < seen.op.invokedNs; over = ended[next]) {
      if (!lowest || over.leftAtMost < lowest.leftAtMost) lowest = over;
      next += 1;
    }
    if (!lowest || seen.atLeast <= lowest.leftAtMost + giveBacks.unitsBefore(seen.op)) continue;
    found.push({ seen, before: lowest, possiblyTaken: 0 });
    // What follows is measured against the risen counter: one rise is one finding.
    lowest = { op: lowest.op, leftAtMost: seen.atLeast };
  }
  return found;
}

/** The counter stood lower than all purchases asked by then could have brought it: refused too early, or units gone. */
function tooLow(history: History, ended: readonly Observation[]): Disorder[] {
  const initial = history.run?.initial;
  if (initial === undefined) return [];
  const mayTake = (op: Operation) => history.soldOps.has(op) || op.outcome === "unknown" || mayGiveBack(history, op);
  const units = new Map(
    [...byHost(history.ops)].map(([host, ops]) => [host, new DemandPrefixSum(ops.filter(mayTake))]),
  );
  const all = [...units.values()].reduce((sum, { total }) => sum + total, 0);
  const possiblyTaken = ({ op, doneNs }: Observation) => {
    const onHost = units.get(op.host);
    const elsewhere = all - (onHost?.total ?? 0);
    return elsewhere + (onHost?.at(doneNs) ?? 0) - (mayTake(op) ? op.quantity : 0);
  };
  const found: Disorder[] = [];
  let missing = 0;
  for (const seen of ended) {
    const taken = possiblyTaken(seen);
    if (initial - taken - missing <= seen.atMost) continue;
    // Units once gone stay gone: only further ones are findings.
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

function tooHighWords({ op: first, leftAtMost }: Left, later: Observation): string {
  const second = later.op;
  const before =
    first.outcome === "sold_out"
      ? `${first.node} had told ${first.buyerId} "sold out"`
      : `${first.node} had sold to ${first.buyerId} and left ${leftAtMost}`;
  const then =
    second.outcome === "sold_out"
      ? `found ${later.atLeast} left for ${second.buyerId}`
      : `sold to ${second.buyerId}${later.atMost === Infinity ? "" : ` from ${later.atLeast} left`}`;
  return `${second.node} ${then}, asked only after ${before}.`;
}

function tooLowWords({ op, atMost }: Observation, taken: number, initial: number): string {
  const possible = `when no more than ${taken} of ${initial} could have been sold`;
  return op.outcome === "sold_out"
    ? `${op.node} told ${op.buyerId} "sold out" ${possible}.`
    : `${op.node} sold to ${op.buyerId} from ${atMost} left, ${possible}.`;
}

function answerNs({ op }: Observation): number {
  return op.answeredNs ?? op.invokedNs;
}

function findingOf({ seen, before, possiblyTaken }: Disorder, initial: number): Finding {
  return {
    kind: "ticketOrder",
    opIds: before ? [before.op.opId, seen.op.opId] : [seen.op.opId],
    atNs: clockReading(seen.op, answerNs(seen)),
    sentence: before ? tooHighWords(before, seen) : tooLowWords(seen, possiblyTaken, initial),
  };
}
