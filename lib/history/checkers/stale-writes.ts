import { actorNames } from "../describe";
import type { CheckResult, Finding } from "../finding";
import { firstFindings } from "../first-findings";
import { type History, hasAcceptedWrite } from "../history";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";

/** An accepted write of a holder whose time was over, and the newer holder that proves it, where one is needed. */
export interface StaleWrite {
  readonly op: Operation;
  readonly newer: Operation | null;
}

/**
 * Accepted writes of stale holders: the resource had already answered a newer fencing token, or, without tokens, the
 * lease was known lost or given back before the write began. O(n log n).
 */
export function checkStaleWrites(history: History): CheckResult {
  return firstFindings(staleWritesIn(history), {
    timeOf: ({ op }) => ({ op, ns: writeBeganNs(op) ?? op.invokedNs }),
    toFinding: findingOf,
  });
}

export const staleWritesIn = memoize((history: History): readonly StaleWrite[] => {
  const accepted = history.ops.filter((op) => hasAcceptedWrite(history, op));
  const found = new Map<Operation, StaleWrite>();
  const keep = (stale: StaleWrite) => void (found.has(stale.op) || found.set(stale.op, stale));
  for (const ops of byHost(history.ops).values()) byClock(history, ops).forEach(keep);
  byDatabaseOrder(accepted).forEach(keep);
  const tokensCount = history.run?.fencing !== false;
  for (const op of accepted) {
    // With a token the resource decides who is stale; without one, the holder's own knowledge does.
    if ((op.fencingToken === undefined || !tokensCount) && wroteAfterItsTime(op)) keep({ op, newer: null });
  }
  return [...found.values()];
});

/** When a write reached the resource at the earliest. */
function writeBeganNs(op: Operation): number | undefined {
  return op.writeNs ?? op.committedNs;
}

function wroteAfterItsTime(op: Operation): boolean {
  const beganNs = writeBeganNs(op);
  if (beganNs === undefined || op.grantedNs === undefined) return false;
  return (op.leaseLostNs !== undefined && op.leaseLostNs < beganNs) || isReleasedBefore(op, beganNs);
}

function isReleasedBefore(op: Operation, ns: number): boolean {
  return op.releasedNs !== undefined && op.releasedNs < ns;
}

/** On one host: a write that began after a newer token's read or write had been answered. */
function byClock(history: History, ops: readonly Operation[]): StaleWrite[] {
  const fenced = ops.filter((op) => op.fencingToken !== undefined);
  const seen = fenced.flatMap((op) => {
    const seenNs = answeredByResourceNs(history, op);
    return seenNs === undefined ? [] : [{ op, seenNs }];
  });
  seen.sort((a, b) => a.seenNs - b.seenNs);
  const writes = fenced
    .filter((op) => hasAcceptedWrite(history, op) && writeBeganNs(op) !== undefined)
    .sort((a, b) => (writeBeganNs(a) ?? 0) - (writeBeganNs(b) ?? 0));
  const found: StaleWrite[] = [];
  let newest: Operation | null = null;
  let next = 0;
  for (const op of writes) {
    for (let entry = seen[next]; entry && entry.seenNs < (writeBeganNs(op) ?? 0); entry = seen[next]) {
      if (!newest || tokenOf(entry.op) > tokenOf(newest)) newest = entry.op;
      next += 1;
    }
    if (newest && tokenOf(newest) > tokenOf(op)) found.push({ op, newer: newest });
  }
  return found;
}

function answeredByResourceNs(history: History, op: Operation): number | undefined {
  if (op.readValue !== undefined && op.readNs !== undefined) return op.readNs;
  return hasAcceptedWrite(history, op) ? op.committedNs : undefined;
}

/**
 * Between hosts: whose write came later shows in the values. The stock only falls, so who read the lower value wrote
 * later; of two that read the same value the older token's write was not seen by, or came after, the newer one's read.
 */
function byDatabaseOrder(accepted: readonly Operation[]): StaleWrite[] {
  const writes = accepted.filter((op) => op.fencingToken !== undefined && op.readValue !== undefined);
  writes.sort((a, b) => (b.readValue ?? 0) - (a.readValue ?? 0));
  const found: StaleWrite[] = [];
  const newest = new NewestByHost();
  let next = 0;
  for (const op of writes) {
    for (let other = writes[next]; other && (other.readValue ?? 0) >= (op.readValue ?? 0); other = writes[next]) {
      newest.add(other);
      next += 1;
    }
    const newer = newest.outside(op.host);
    if (newer && tokenOf(newer) > tokenOf(op)) found.push({ op, newer });
  }
  return found;
}

/** The newest token seen so far, and the newest of any other host than that one's. */
class NewestByHost {
  private first: Operation | null = null;
  private second: Operation | null = null;

  add(op: Operation): void {
    if (!this.first || tokenOf(op) > tokenOf(this.first)) {
      if (this.first && this.first.host !== op.host) this.second = this.first;
      this.first = op;
    } else if (op.host !== this.first.host && (!this.second || tokenOf(op) > tokenOf(this.second))) {
      this.second = op;
    }
  }

  outside(host: string): Operation | null {
    return this.first?.host === host ? this.second : this.first;
  }
}

function tokenOf(op: Operation): bigint {
  return op.fencingToken ?? -1n;
}

function findingOf({ op, newer }: StaleWrite): Finding {
  const wrote = `wrote ${op.writtenValue ?? "the stock"}`;
  const base = { kind: "staleWrites", atNs: clockReading(op, writeBeganNs(op) ?? op.invokedNs) } as const;
  if (newer) {
    const [stale, holder] = actorNames(op, newer);
    const sentence = `${stale} ${wrote} with fencing token ${op.fencingToken} after ${holder} had come with ${newer.fencingToken}, and it was accepted.`;
    return { ...base, opIds: [op.opId, newer.opId], sentence };
  }
  const why = isReleasedBefore(op, writeBeganNs(op) ?? 0) ? "it had given the lock back" : "it had lost its lease";
  return { ...base, opIds: [op.opId], sentence: `${op.node} ${wrote} after ${why}, and it was accepted.` };
}
