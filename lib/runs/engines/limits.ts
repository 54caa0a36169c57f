import type { RunDocument } from "../document";

/** VU start, connecting, closing the run and judging it, on a loaded machine. */
const OVERHEAD_MS = 90_000;
/** Slack of one purchase beyond its wait for the lock and the work. */
const PURCHASE_SLACK_MS = 20_000;

/** How long one purchase may take before the generator counts it as unanswered. */
export function requestTimeoutMs(config: Pick<RunDocument["config"], "waitTimeoutMs" | "holdMs">): number {
  return config.waitTimeoutMs + config.holdMs + PURCHASE_SLACK_MS;
}

/** The bound on a whole engine run; every purchase inside it is bounded by its own wait. */
export function engineLimitMs(config: RunDocument["config"]): number {
  const load = config.rate === null ? 0 : (config.durationMs ?? 0);
  return load + requestTimeoutMs(config) + OVERHEAD_MS;
}
