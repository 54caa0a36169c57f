/**
 * Bounds of the offset between the lab's clock and this device's clock. The `Date` header has whole seconds only, but each
 * response narrows the interval.
 */
export interface ClockBounds {
  readonly lowMs: number;
  readonly highMs: number;
}

/** One response: send and receive time by this device's clock, and the lab's time from the `Date` header. */
export interface ClockSample {
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
  readonly dateEpochMs: number;
}

const DATE_RESOLUTION_MS = 1_000;

/** Intersects the bounds with one more sample. A contradicting sample replaces them, because a clock was changed. */
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
 * Lower bound of the offset, so that the page never assumes a time that the lab has not reached and enables a button too
 * early.
 */
export function offsetMs(bounds: ClockBounds | null): number {
  return bounds === null ? 0 : Math.floor(bounds.lowMs);
}
