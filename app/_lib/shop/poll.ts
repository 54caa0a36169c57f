const MAX_PAUSE_MS = 15_000;

/** How long until the page looks again: doubled for every look that got no good answer. */
export function pollPauseMs(everyMs: number, failures: number): number {
  return Math.min(MAX_PAUSE_MS, everyMs * 2 ** Math.min(failures, 10));
}
