const MAX_PAUSE_MS = 15_000;

/** Pause until the next poll: doubles with each failure, up to a limit. */
export function pollPauseMs(everyMs: number, failures: number): number {
  return Math.min(MAX_PAUSE_MS, everyMs * 2 ** Math.min(failures, 10));
}
