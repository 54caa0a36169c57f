import { setTimeout as delay } from "node:timers/promises";
import type { StopOutcome } from "../node/node-stops";
import { FaultMissed, type Injection } from "./fault";

const POLL_MS = 50;

/** A holder whose work an armed stop of its node delays. */
export type WorkingHolder = Extract<StopOutcome, { status: "delaying" }>;

/**
 * Waits until a buyer on the injection's node works with the lock.
 * @param index of the armed stop among the node's stops
 * @throws FaultMissed if no buyer got the lock on the node
 */
export async function untilWorking(injection: Injection, index: number): Promise<WorkingHolder> {
  const outcome = await untilStatus(injection, index, (status) => status !== "armed");
  if (outcome?.status === "delaying") return outcome;
  throw new FaultMissed(`no buyer got the lock on ${injection.node.name} before the load ended`);
}

/** @throws FaultMissed if the load ended during the work */
export async function untilWorkEnds(injection: Injection, index: number): Promise<void> {
  const outcome = await untilStatus(injection, index, (status) => status !== "delaying");
  if (outcome?.status !== "delayed") throw new FaultMissed("the work was not over when the load ended");
}

/** `buyer-7 (node-1-42)` */
export function holderText({ holderId, buyerId }: Pick<WorkingHolder, "holderId" | "buyerId">): string {
  return holderId === null ? `${buyerId}` : `${buyerId} (${holderId})`;
}

async function untilStatus(
  { node, closing }: Injection,
  index: number,
  isReached: (status: StopOutcome["status"]) => boolean,
): Promise<StopOutcome | undefined> {
  for (;;) {
    const isLast = closing.aborted;
    const outcome = (await (isLast ? node.disarmStops() : node.stops())).outcomes[index];
    if (isLast || outcome === undefined || isReached(outcome.status)) return outcome;
    await delay(POLL_MS);
  }
}
