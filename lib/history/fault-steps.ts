import { durationText } from "../services/number-text";
import type { History } from "./history";
import { lastSeenNs } from "./intervals";
import type { Fault, Operation } from "./operation";

/** The start or the end of a fault, as a step of an interleaving. */
export interface FaultStep {
  /** The purchase that the fault stopped; null if the fault stopped none of those shown. */
  readonly opId: string | null;
  readonly field: "faultFromNs" | "faultToNs";
  readonly atNs: number;
  readonly text: string;
}

/** A fault with times on the clock of the operations. */
export interface ClockedFault {
  readonly fault: Fault;
  readonly fromNs: number;
  readonly toNs: number;
}

/** Fault times are readings of one host's clock, so there are none if the operations ran on several hosts. */
export function clockedFaults({ faults, ops }: History): ClockedFault[] {
  const [clock, ...others] = new Set(ops.map((op) => op.clock));
  if (!clock || others.length > 0) return [];
  return faults.map((fault) => ({
    fault,
    fromNs: Number(fault.fromNs - clock.originNs),
    toNs: Number(fault.toNs - clock.originNs),
  }));
}

/** The steps of the faults that overlap the time from `fromNs` to `toNs`. */
export function faultStepsOf(history: History, ops: readonly Operation[], [fromNs, toNs]: readonly [number, number]) {
  return clockedFaults(history)
    .filter((fault) => fault.fromNs <= toNs && fault.toNs >= fromNs)
    .flatMap((fault) => stepsOfFault(fault, ops));
}

function stepsOfFault(clocked: ClockedFault, ops: readonly Operation[]): FaultStep[] {
  const { fault, fromNs, toNs } = clocked;
  const { faultId, stoppedNode, killedNode, slowedNode } = fault;
  const opId = ops.find((op) => isHolderStruckBy(clocked, op))?.opId ?? null;
  const steps = (from: string, to: string): [FaultStep, FaultStep] => [
    { opId, field: "faultFromNs", atNs: fromNs, text: from },
    { opId, field: "faultToNs", atNs: toNs, text: to },
  ];
  const stoppedFor = durationText((toNs - fromNs) / 1e6);
  if (killedNode !== undefined) {
    const [killed, runsAgain] = steps(
      opId === null ? `${killedNode} is killed (${faultId})` : `killed (${faultId})`,
      `${killedNode} runs again after ${stoppedFor}`,
    );
    // The killed purchase is not resumed.
    return [killed, { ...runsAgain, opId: null }];
  }
  if (slowedNode !== undefined) {
    const where = opId === null ? ` on ${slowedNode}` : "";
    return steps(`slow work begins${where} (${faultId})`, `slow work ends${where} after ${stoppedFor}`);
  }
  if (stoppedNode === undefined) return steps(`${faultId} begins`, `${faultId} ends`);
  if (opId === null) return steps(`${stoppedNode} is paused (${faultId})`, `${stoppedNode} wakes after ${stoppedFor}`);
  return steps(`paused (${faultId})`, `wakes after ${stoppedFor}`);
}

/**
 * True if the operation had the lock when its node was paused or its work was delayed, and went on afterwards, or when its node
 * was killed.
 */
export function isHolderStruckBy({ fault, fromNs, toNs }: ClockedFault, op: Operation): boolean {
  if (op.grantedNs === undefined || op.grantedNs > fromNs) return false;
  if (op.node === fault.killedNode) return op.outcome === "unknown" && op.releasedNs === undefined;
  // A delayed holder writes afterwards, if it writes.
  if (op.node === fault.slowedNode) return lastSeenNs(op) >= toNs && (op.writeNs ?? toNs) >= toNs;
  return op.node === fault.stoppedNode && lastSeenNs(op) >= toNs;
}

/** The first purchase that got the lock after this one on the same host. @param lastNs the latest grant; absent: this one's last step */
export function nextHolderOf(history: History, op: Operation, lastNs = lastSeenNs(op)): Operation | null {
  let next: Operation | null = null;
  for (const other of history.ops) {
    if (other.host !== op.host || isSameHold(op, other)) continue;
    const at = other.grantedNs ?? -1;
    if (at > (op.grantedNs ?? Infinity) && at <= lastNs && at < (next?.grantedNs ?? Infinity)) next = other;
  }
  return next;
}

function isSameHold(a: Operation, b: Operation): boolean {
  return a === b || (a.holderId !== undefined && a.holderId === b.holderId);
}
