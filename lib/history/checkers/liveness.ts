import { durationText, settingText } from "../../services/number-text";
import { type CheckResult, type Finding, NOTHING_FOUND } from "../finding";
import { firstFindings } from "../first-findings";
import type { History } from "../history";
import { lastSeenNs, servedNs } from "../intervals";
import { clockReading, type Fault, type HostClock, type Operation } from "../operation";

/** The bound if the run line has none. It exceeds the lab's default leases and sessions. */
export const DEFAULT_SERVED_WITHIN_MS = 30_000;

interface Wait {
  readonly op: Operation;
  readonly fromNs: number;
  readonly toNs: number;
  readonly isServed: boolean;
}

/**
 * After a fault heals, the lock must serve its waiters within a bound. Finds every waiter that exceeded the bound, and
 * a lock that served no waiter within the bound although at least one was always waiting. O(n log n) per fault.
 *
 * A late waiter loses no unit, so these findings make a run inconclusive, not unsafe. Fault times are readings of one
 * host's clock, so the check does not apply if operations ran on several hosts.
 */
export function checkLiveness(history: History): CheckResult {
  if (history.faults.length === 0) return NOTHING_FOUND;
  const [clock, ...others] = new Set(history.ops.map((op) => op.clock));
  if (!clock || others.length > 0) return NOTHING_FOUND;
  const boundMs = history.run?.servedWithinMs ?? DEFAULT_SERVED_WITHIN_MS;
  const waits = history.ops.flatMap((op) => waitOf(op) ?? []).sort((a, b) => a.fromNs - b.fromNs);
  const faults = history.faults.map((fault) => onClock(fault, clock));
  const unserved = faults.flatMap((fault) => unservedAfter(fault, { waits, boundMs, faults }));
  return firstFindings(unserved, { timeOf: (found) => found, toFinding: findingOf });
}

interface ClockedFault {
  readonly faultId: string;
  readonly fromNs: number;
  readonly healedNs: number;
}

function onClock({ faultId, fromNs, toNs }: Fault, { originNs }: HostClock): ClockedFault {
  return { faultId, fromNs: Number(fromNs - originNs), healedNs: Number(toNs - originNs) };
}

function waitOf(op: Operation): Wait | null {
  if (op.waitNs === undefined) return null;
  const served = servedNs(op);
  return { op, fromNs: op.waitNs, toNs: served ?? lastSeenNs(op), isServed: served !== undefined };
}

interface LivenessInputs {
  readonly waits: readonly Wait[];
  readonly boundMs: number;
  readonly faults: readonly ClockedFault[];
}

interface Unserved {
  readonly op: Operation;
  readonly ns: number;
  readonly sentence: string;
}

function unservedAfter(fault: ClockedFault, { waits, boundMs, faults }: LivenessInputs): Unserved[] {
  const { healedNs } = fault;
  const dueNs = healedNs + boundMs * 1e6;
  // Another fault within the bound excuses the delay.
  if (faults.some((other) => other.fromNs < dueNs && other.healedNs > healedNs)) return [];
  const late = waits.filter(({ fromNs, toNs }) => fromNs <= healedNs && toNs > dueNs);
  if (late.length > 0) return late.map((wait) => lateWait(wait, fault, boundMs));
  const servedInTime = waits.some(({ isServed, toNs }) => isServed && toNs >= healedNs && toNs <= dueNs);
  const last = servedInTime ? null : lastOfUnbrokenWaits(waits, healedNs);
  if (last === null || last.toNs <= dueNs) return [];
  const sentence = `No waiter was served within ${settingText(boundMs)} after ${fault.faultId} healed, although at least one was always waiting.`;
  return [{ op: last.op, ns: dueNs, sentence }];
}

/** The last wait of the chain of overlapping waits that covers `fromNs`; null if no wait covers it. */
function lastOfUnbrokenWaits(waits: readonly Wait[], fromNs: number): Wait | null {
  let last: Wait | null = null;
  for (const wait of waits) {
    if (wait.fromNs > (last?.toNs ?? fromNs)) break;
    if (wait.toNs >= fromNs && wait.toNs > (last?.toNs ?? -Infinity)) last = wait;
  }
  return last;
}

function lateWait({ op, toNs, isServed }: Wait, { faultId, healedNs }: ClockedFault, boundMs: number): Unserved {
  const waitedMs = (toNs - healedNs) / 1e6;
  const state = isServed ? "was served" : "was still waiting";
  const sentence = `${op.buyerId} at ${op.node} ${state} ${durationText(waitedMs)} after ${faultId} healed; the limit is ${settingText(boundMs)}.`;
  return { op, ns: toNs, sentence };
}

function findingOf({ op, ns, sentence }: Unserved): Finding {
  return { kind: "unservedWaiters", opIds: [op.opId], atNs: clockReading(op, ns), sentence };
}
