import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 50;
/** Time for a purchase to be answered beyond its wait and its work. */
const SLACK_MS = 5_000;

/** As long as a purchase may take. */
export function longestPurchaseMs({ waitTimeoutMs, holdMs }: { waitTimeoutMs: number; holdMs: number }): number {
  return waitTimeoutMs + holdMs + SLACK_MS;
}

/** Reads until nothing is in flight or the time limit has passed. @returns the last reading */
export async function readUntilIdle<T>(
  read: () => Promise<T>,
  inFlightIn: (reading: T) => number,
  limitMs: number,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const reading = await read();
    if (inFlightIn(reading) === 0 || performance.now() > deadlineMs) return reading;
    await delay(POLL_MS);
  }
}
