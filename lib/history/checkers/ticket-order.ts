import type { CheckResult, Finding } from "../finding";
import { GiveBacks, mayGiveBack } from "../give-backs";
import type { History } from "../history";
import { byHost } from "../intervals";
import { clockReading, type Operation } from "../operation";
import { UnitsUpTo } from "../units-up-to";

/**
 * Tickets against real time: is there an order of the purchases, in which none comes before one that was answered before
 * it was asked, that a counter falling from `initial` could have served? (Linearizability.) A purchase whose outcome is
 * not known may have happened at any moment after it was asked, or not at all; a row shows that it did.
 *
 * Exact for purchases of one unit that recorded no values, together with the check for oversold; for others every
 * finding is proof, but not every disorder is found. O(n log n).
 */
export function checkTicketOrder(history: History): CheckResult {
  const hosts = [...byHost(history.ops).values()].map((ops) => ops.flatMap((op) => observe(history, op) ?? []));
  const giveBacks = new GiveBacks(history);
  const high = hosts.flatMap((observations) => tooHigh(observations, giveBacks));
  const low = history.isComplete ? tooLow(history, hosts.flat()) : [];
  // Who was "sold out" too early and passed over later is one disorder, not two.
  const told = new Set(high.flatMap(({ opIds }) => opIds));
  const findings = [...high, ...low.filter(({ opIds }) => !opIds.some((opId) => told.has(opId)))];
  return { count: findings.length, findings };
}

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

function observe(history: History, op: Operation): Observation | null {
  // Only an answer that tells what became of it ends a purchase.
  const doneNs = op.outcome === "sold" || op.outcome === "sold_out" ? op.answeredNs : undefined;
  if (history.takers.has(op)) {
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
function tooHigh(observations: readonly Observation[], giveBacks: GiveBacks): Finding[] {
  const asked = [...observations].sort((a, b) => a.op.invokedNs - b.op.invokedNs);
  const done = observations.filter((seen) => seen.doneNs !== undefined).sort(byEnd);
  const findings: Finding[] = [];
  let lowest: Pick<Observation, "op" | "leftAtMost"> | null = null;
  let next = 0;
  for (const seen of asked) {
    for (let over = done[next]; over && endOf(over) < seen.op.invokedNs; over = done[next]) {
      if (!lowest || over.leftAtMost < lowest.leftAtMost) lowest = over;
      next += 1;
    }
    if (!lowest || seen.atLeast <= lowest.leftAtMost + giveBacks.unitsBefore(seen.op)) continue;
    findings.push(tooHighFinding(lowest, seen));
    // What follows is measured against the risen counter: one rise is one finding.
    lowest = { op: lowest.op, leftAtMost: seen.atLeast };
  }
  return findings;
}

/** The counter stood lower than all purchases asked by then could have brought it: refused too early, or units gone. */
function tooLow(history: History, observations: readonly Observation[]): Finding[] {
  const initial = history.run?.initial;
  if (initial === undefined) return [];
  const mayTake = (op: Operation) => history.takers.has(op) || op.outcome === "unknown" || mayGiveBack(history, op);
  const units = new Map([...byHost(history.ops)].map(([host, ops]) => [host, new UnitsUpTo(ops.filter(mayTake))]));
  const all = [...units.values()].reduce((sum, { total }) => sum + total, 0);
  const possiblyTaken = ({ op, doneNs }: Observation) => {
    const onHost = units.get(op.host);
    const elsewhere = all - (onHost?.total ?? 0);
    return elsewhere + (onHost?.at(doneNs) ?? 0) - (mayTake(op) ? op.quantity : 0);
  };
  const findings: Finding[] = [];
  let missing = 0;
  for (const seen of [...observations].sort(byEnd)) {
    const taken = possiblyTaken(seen);
    if (initial - taken - missing <= seen.atMost) continue;
    // Units once gone stay gone: only further ones are findings.
    missing = initial - taken - seen.atMost;
    findings.push(tooLowFinding(seen, taken, initial));
  }
  return findings;
}

function endOf({ doneNs }: Observation): number {
  return doneNs ?? Number.MAX_VALUE;
}

function byEnd(a: Observation, b: Observation): number {
  return endOf(a) - endOf(b);
}

function tooHighFinding(
  { op: first, leftAtMost }: Pick<Observation, "op" | "leftAtMost">,
  later: Observation,
): Finding {
  const second = later.op;
  const before =
    first.outcome === "sold_out"
      ? `${first.node} had told ${first.buyerId} "sold out"`
      : `${first.node} had sold to ${first.buyerId} and left ${leftAtMost}`;
  const then =
    second.outcome === "sold_out"
      ? `found ${later.atLeast} left for ${second.buyerId}`
      : `sold to ${second.buyerId}${later.atMost === Infinity ? "" : ` from ${later.atLeast} left`}`;
  return finding([first, second], `${second.node} ${then}, asked only after ${before}.`);
}

function tooLowFinding({ op, atMost }: Observation, taken: number, initial: number): Finding {
  const possible = `when no more than ${taken} of ${initial} could have been sold`;
  const sentence =
    op.outcome === "sold_out"
      ? `${op.node} told ${op.buyerId} "sold out" ${possible}.`
      : `${op.node} sold to ${op.buyerId} from ${atMost} left, ${possible}.`;
  return finding([op], sentence);
}

function finding(ops: readonly Operation[], sentence: string): Finding {
  const last = ops.at(-1);
  const atNs = last ? clockReading(last, last.answeredNs ?? last.invokedNs) : null;
  return { kind: "ticketOrder", opIds: ops.map((op) => op.opId), atNs, sentence };
}
