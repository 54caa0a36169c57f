import { nowNs } from "../services/monotonic";
import type { OperationTrace } from "./types";

/** The phase of a purchase in which it waited for a connection. */
export type PoolWaitPhase = "wait" | "hold" | "commit";

/**
 * Records a wait for a pooled connection under its phase, so that the metrics can subtract it from the phase. A wait in the phase
 * `wait` starts a new attempt, so the waits of earlier, failed attempts move to that phase too.
 */
export function recordPoolWait(trace: OperationTrace, sinceNs: bigint, phase: PoolWaitPhase): void {
  const waitedNs = nowNs() - sinceNs;
  trace.poolWaitNs = (trace.poolWaitNs ?? 0n) + waitedNs;
  const { waitPoolNs = 0n, holdPoolNs = 0n, commitPoolNs = 0n } = trace;
  if (phase === "hold") trace.holdPoolNs = holdPoolNs + waitedNs;
  else if (phase === "commit") trace.commitPoolNs = commitPoolNs + waitedNs;
  else {
    trace.waitPoolNs = waitPoolNs + holdPoolNs + commitPoolNs + waitedNs;
    trace.holdPoolNs = 0n;
    trace.commitPoolNs = 0n;
  }
}
