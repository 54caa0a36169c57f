import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import type { History } from "../history";
import { lastSeenNs, servedNs } from "../intervals";
import { clockReading, type Fault, type HostClock, type Operation } from "../operation";

/** Used where the run line names no bound: longer than the leases and sessions the lab starts with. */
export const DEFAULT_SERVED_WITHIN_MS = 30_000;

interface Waiting {
  readonly op: Operation;
  readonly fromNs: number;
  readonly toNs: number;
  readonly isServed: boolean;
}

/**
 * After a fault has healed, waiters are served within a bound. Found are waiters whom the bound passed by, and a lock
 * that served nobody for that long although at every moment somebody waited. O(n log n), times the number of faults.
 *
 * Not being served is no lost unit: it makes a run inconclusive, not unsafe. A fault's time is of one host's clock, so
 * nothing can be said of operations on several.
 */
export function checkLiveness(history: History): CheckResult {
  if (history.faults.length === 0) return NOTHING_FOUND;
  const [clock, ...others] = new Set(history.ops.map((op) => op.clock));
  if (!clock || others.length > 0) return NOTHING_FOUND;
  const boundMs = history.run?.servedWithinMs ?? DEFAULT_SERVED_WITHIN_MS;
  const waits = history.ops.flatMap((op) => waitOf(op) ?? []).sort((a, b) => a.fromNs - b.fromNs);
  const faults = history.faults.map((fault) => onClock(fault, clock));
  const findings = faults.flatMap((fault) => unservedAfter(fault, { waits, boundMs, faults }));
  return { count: findings.length, findings };
}

interface ClockedFault {
  readonly faultId: string;
  readonly fromNs: number;
  readonly healedNs: number;
}

function onClock({ faultId, fromNs, toNs }: Fault, { originNs }: HostClock): ClockedFault {
  return { faultId, fromNs: Number(fromNs - originNs), healedNs: Number(toNs - originNs) };
}

function waitOf(op: Operation): Waiting | null {
  if (op.waitNs === undefined) return null;
  const served = servedNs(op);
  return { op, fromNs: op.waitNs, toNs: served ?? lastSeenNs(op), isServed: served !== undefined };
}

interface Demand {
  readonly waits: readonly Waiting[];
  readonly boundMs: number;
  readonly faults: readonly ClockedFault[];
}

function unservedAfter(fault: ClockedFault, { waits, boundMs, faults }: Demand): Finding[] {
  const { healedNs } = fault;
  const dueNs = healedNs + boundMs * 1e6;
  // Another fault in the meantime is an excuse.
  if (faults.some((other) => other !== fault && other.fromNs < dueNs && other.healedNs > healedNs)) return [];
  const late = waits.filter(({ fromNs, toNs }) => fromNs <= healedNs && toNs > dueNs);
  if (late.length > 0) return late.map((wait) => lateFinding(wait, fault, boundMs));
  const servedInTime = waits.some(({ isServed, toNs }) => isServed && toNs >= healedNs && toNs <= dueNs);
  const end = servedInTime ? null : waitedWithoutPause(waits, healedNs);
  if (end === null || end.toNs <= dueNs) return [];
  const sentence = `After ${fault.faultId} had healed nobody was served for ${boundMs} ms, although somebody waited all the time.`;
  return [{ kind: "unservedWaiters", opIds: [end.op.opId], atNs: clockReading(end.op, dueNs), sentence }];
}

/** The wait in which an unbroken row of waits from this moment ends. */
function waitedWithoutPause(waits: readonly Waiting[], fromNs: number): Waiting | null {
  let end: Waiting | null = null;
  for (const wait of waits) {
    if (wait.fromNs > (end?.toNs ?? fromNs)) break;
    if (wait.toNs >= fromNs && wait.toNs > (end?.toNs ?? -Infinity)) end = wait;
  }
  return end;
}

function lateFinding({ op, toNs, isServed }: Waiting, { faultId, healedNs }: ClockedFault, boundMs: number): Finding {
  const waitedMs = Math.round((toNs - healedNs) / 1e6);
  const how = isServed ? `was served only ${waitedMs} ms` : `was not served within ${waitedMs} ms`;
  const sentence = `${op.buyerId} waited at ${op.node} and ${how} after ${faultId} had healed; ${boundMs} ms are allowed.`;
  return { kind: "unservedWaiters", opIds: [op.opId], atNs: clockReading(op, toNs), sentence };
}
