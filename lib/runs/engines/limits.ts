import type { RunDocument } from "../document";

/** Time to start, connect, close the run and check it, on a loaded machine. */
const OVERHEAD_MS = 90_000;
/** Time to start and to serve one buyer of those who start together, on a loaded machine. k6 starts each before the first one buys. */
const BUYER_MS = 10;
/** Slack of one purchase beyond its wait for the lock and its work. */
const PURCHASE_SLACK_MS = 20_000;

/** After this time the generator counts a purchase as unanswered. */
export function requestTimeoutMs(config: Pick<RunDocument["config"], "waitTimeoutMs" | "holdMs">): number {
  return config.waitTimeoutMs + config.holdMs + PURCHASE_SLACK_MS;
}

/** Limit of a whole engine run. */
export function engineLimitMs(config: RunDocument["config"]): number {
  const load = config.rate === null ? (config.vus ?? 1) * BUYER_MS : (config.durationMs ?? 0);
  return load + requestTimeoutMs(config) + OVERHEAD_MS;
}
