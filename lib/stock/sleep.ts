import { setTimeout as delay } from "node:timers/promises";

/** Business logic that takes a while. Zero costs nothing. */
export async function sleepMs(durationMs: number): Promise<void> {
  if (durationMs > 0) await delay(durationMs);
}
