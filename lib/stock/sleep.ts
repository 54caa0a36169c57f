import { setTimeout as delay } from "node:timers/promises";

/** Waits without a timer for 0, so that no turn of the event loop passes. */
export async function sleepMs(durationMs: number): Promise<void> {
  if (durationMs > 0) await delay(durationMs);
}
