/** First and longest bound of the pause between two tries; the pause is drawn at random below it (full jitter). */
const FIRST_BOUND_MS = 4;
const MAX_BOUND_MS = 64;

/**
 * How long to wait after a try that somebody else has overtaken.
 * @param attempt from 1 on
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(attempt: number, random: () => number): number {
  const boundMs = Math.min(MAX_BOUND_MS, FIRST_BOUND_MS * 2 ** Math.min(attempt, 10));
  return Math.round(random() * boundMs);
}
