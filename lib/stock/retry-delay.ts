/** The delay is drawn at random below a bound (full jitter). The bound doubles with each attempt, up to the maximum. */
const FIRST_BOUND_MS = 4;
const MAX_BOUND_MS = 64;

/**
 * How long to wait after an attempt that another write overtook.
 * @param attempt from 1 on
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(attempt: number, random: () => number): number {
  const boundMs = Math.min(MAX_BOUND_MS, FIRST_BOUND_MS * 2 ** Math.min(attempt, 10));
  return Math.round(random() * boundMs);
}
