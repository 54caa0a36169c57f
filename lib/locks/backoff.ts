import type { RandomSource } from "./random";

/** How often a poller asks again. */
export interface BackoffPolicy {
  /** Shortest pause. */
  readonly minMs: number;
  /** Longest pause, whatever the crowd. */
  readonly maxMs: number;
  /** The longest pause of the first retry; it grows by `growth` with each one. */
  readonly startMs: number;
  readonly growth: number;
}

export interface Backoff {
  /** Uniform between `minMs` and a ceiling that grows with each call: waiters that collided once drift apart. */
  nextMs(): number;
}

export function createBackoff(policy: BackoffPolicy, random: RandomSource): Backoff {
  let ceilingMs = Math.max(policy.minMs, policy.startMs);
  return {
    nextMs() {
      const top = Math.min(policy.maxMs, ceilingMs);
      ceilingMs = Math.min(policy.maxMs, ceilingMs * policy.growth);
      return policy.minMs + random.fraction() * (top - policy.minMs);
    },
  };
}
