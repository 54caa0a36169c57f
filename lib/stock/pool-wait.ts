import { nowNs } from "../services/monotonic";
import type { OperationTrace } from "./types";

/** The phase in which a purchase waited for a connection. */
export type PoolWaitPhase = "wait" | "hold" | "commit";

/**
 * Notes a wait for a pooled connection and the phase it fell into, so that each phase can be told without it. One before
 * the turn makes all earlier ones part of the wait for that turn: they were of attempts that came to nothing.
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
