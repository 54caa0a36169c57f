import { durationText } from "../../services/number-text";
import { actorNames } from "../describe";
import type { CheckResult, Finding } from "../finding";
import { firstFindings } from "../first-findings";
import { type History, hasAcceptedWrite } from "../history";
import { byHost } from "../intervals";
import { memoize } from "../memoize";
import { clockReading, type Operation } from "../operation";

/**
 * An accepted write after the hold ended. `newer` is the later holder that proves it; null if the operation proves it
 * alone.
 */
export interface StaleWrite {
  readonly op: Operation;
  readonly newer: Operation | null;
}

/**
 * Finds accepted writes of stale holders. With tokens: the resource had already answered a newer token when the write
 * began. Without tokens: the lease had ended by the holder's own grant, whether or not the holder had noticed, or the
 * holder had released the lock, before the write began.
 * O(n log n).
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
  const checksTokens = history.run?.fencing !== false;
  for (const op of accepted) {
    // If the resource checks tokens, it decides which writes are stale; otherwise the recorded end of the hold does.
    if ((op.fencingToken === undefined || !checksTokens) && wroteAfterHoldEnded(op)) keep({ op, newer: null });
  }
  return [...found.values()];
});

/** The earliest time at which the write can have reached the resource. */
function writeBeganNs(op: Operation): number | undefined {
  return op.writeNs ?? op.committedNs;
}

function wroteAfterHoldEnded(op: Operation): boolean {
  const beganNs = writeBeganNs(op);
  if (beganNs === undefined || op.grantedNs === undefined) return false;
  return (["leaseLostNs", "leaseUntilNs", "releasedNs"] as const).some((end) => isBefore(op[end], beganNs));
}

function isBefore(ns: number | undefined, laterNs: number): boolean {
  return ns !== undefined && ns < laterNs;
}

/** Writes that began after a newer token's read or write was answered. Compares times, so `ops` must be of one host. */
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

/** When the resource is known to have seen the operation's token. */
export function answeredByResourceNs(history: History, op: Operation): number | undefined {
  if (op.readValue !== undefined && op.readNs !== undefined) return op.readNs;
  return hasAcceptedWrite(history, op) ? op.committedNs : undefined;
}

/**
 * Between hosts the values give the order. The stock only falls, so the purchase that read the lower value wrote later.
 * If both read the same value, the newer token's read did not see the older token's write, so that write came later or
 * was lost.
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
    const newer = newest.fromOtherHost(op.host);
    if (newer && tokenOf(newer) > tokenOf(op)) found.push({ op, newer });
  }
  return found;
}

/** The newest token so far, and the newest one of a different host. */
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

  fromOtherHost(host: string): Operation | null {
    return this.first?.host === host ? this.second : this.first;
  }
}

function tokenOf(op: Operation): bigint {
  return op.fencingToken ?? -1n;
}

function findingOf({ op, newer }: StaleWrite): Finding {
  const base = { kind: "staleWrites", atNs: clockReading(op, writeBeganNs(op) ?? op.invokedNs) } as const;
  const write = op.writtenValue === undefined ? "a write" : `a write of ${op.writtenValue}`;
  if (newer) {
    const [stale, holder] = actorNames(op, newer);
    const sentence = `The resource accepted ${write} by ${stale} with fencing token ${op.fencingToken} after ${holder} had used token ${newer.fencingToken}.`;
    return { ...base, opIds: [op.opId, newer.opId], sentence };
  }
  return {
    ...base,
    opIds: [op.opId],
    sentence: `The resource accepted ${write} by ${op.node} ${endOfHoldBefore(op, writeBeganNs(op) ?? 0)}.`,
  };
}

function endOfHoldBefore(op: Operation, beganNs: number): string {
  if (isBefore(op.releasedNs, beganNs)) return `after ${op.node} had released the lock`;
  if (isBefore(op.leaseLostNs, beganNs)) return `after ${op.node} had lost its lease`;
  const lateMs = (beganNs - (op.leaseUntilNs ?? beganNs)) / 1e6;
  return `${durationText(lateMs)} after the lease of ${op.node} had expired`;
}
