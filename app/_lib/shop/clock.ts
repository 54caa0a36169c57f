/**
 * How far the lab's clock is ahead of this device's, as an interval: answers carry the lab's time in whole seconds only (the
 * `Date` header), but each narrows the interval down, and a few of them at odd moments leave little of it.
 */
export interface ClockBounds {
  readonly lowMs: number;
  readonly highMs: number;
}

/** One answer: when its request was sent and received by this device's clock, and the lab's time in it. */
export interface ClockSample {
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
  readonly dateEpochMs: number;
}

const DATE_RESOLUTION_MS = 1_000;

/** What is left of the interval after one more answer. One that contradicts the rest starts anew: a clock was set. */
export function narrowed(bounds: ClockBounds | null, sample: ClockSample): ClockBounds {
  const own = {
    lowMs: sample.dateEpochMs - sample.receivedAtEpochMs,
    highMs: sample.dateEpochMs + DATE_RESOLUTION_MS - sample.sentAtEpochMs,
  };
  if (bounds === null) return own;
  const both = { lowMs: Math.max(bounds.lowMs, own.lowMs), highMs: Math.min(bounds.highMs, own.highMs) };
  return both.lowMs <= both.highMs ? both : own;
}

/**
 * What to add to this device's clock to have a time that the lab's has surely reached: a button that opens by it is never
 * pressed too early.
 */
export function offsetMs(bounds: ClockBounds | null): number {
  return bounds === null ? 0 : Math.floor(bounds.lowMs);
}
