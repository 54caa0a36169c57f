import type { RandomSource } from "./random";

/** How often a poller asks again. */
export interface BackoffPolicy {
  /** Shortest pause. */
  readonly minMs: number;
  /** Ceiling of the first pause; it grows by `growth` with each one. */
  readonly startMs: number;
  readonly growth: number;
  /** Where the ceiling stops growing: this much for every caller of this process that waits for the same resource ... */
  readonly perWaiterMs: number;
  /** ... but never above this. */
  readonly maxMs: number;
}

export interface Backoff {
  /**
   * Uniform between `minMs` and a ceiling that grows with each call, so that waiters that collided once drift apart.
   * @param waiters callers of this process that wait for the resource. A hundred of them asking a tenth as often
   *   each find a free lock as soon as ten would, and the server hears no more of them.
   */
  nextMs(waiters: number): number;
}

export function createBackoff(policy: BackoffPolicy, random: RandomSource): Backoff {
  const { minMs, startMs, growth, perWaiterMs, maxMs } = policy;
  let grownMs = startMs;
  return {
    nextMs(waiters) {
      const crowdMs = Math.max(startMs, perWaiterMs * waiters);
      const ceilingMs = Math.max(minMs, Math.min(maxMs, crowdMs, grownMs));
      grownMs = Math.min(maxMs, grownMs * growth);
      return minMs + random.fraction() * (ceilingMs - minMs);
    },
  };
}
