import { setTimeout as delay } from "node:timers/promises";
import { elapsedMs, nowNs } from "../services/monotonic";
import { FaultMissed } from "./fault";

const POLL_MS = 50;

/** Looks until there is an answer. @throws FaultMissed with the failure if there is none in time */
export async function untilKnown<T>(
  look: () => Promise<T | undefined>,
  { failure, limitMs }: { readonly failure: string; readonly limitMs: number },
): Promise<T> {
  const beganNs = nowNs();
  while (elapsedMs(beganNs) < limitMs) {
    const known = await look();
    if (known !== undefined) return known;
    await delay(POLL_MS);
  }
  throw new FaultMissed(`${failure} within ${limitMs / 1_000} s`);
}
