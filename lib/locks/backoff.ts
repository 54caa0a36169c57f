import type { RandomSource } from "./random";

/** How often a waiter polls. */
export interface BackoffPolicy {
  /** Minimum pause. */
  readonly minMs: number;
  /** Upper bound of the first pause. It grows by the factor `growth` with every pause. */
  readonly startMs: number;
  readonly growth: number;
  /** The upper bound stops growing at this value times the waiters for the resource in this process ... */
  readonly perWaiterMs: number;
  /** ... and never exceeds this value. */
  readonly maxMs: number;
}

export interface Backoff {
  /**
   * A random pause between `minMs` and a growing upper bound, so that waiters that collided once spread out.
   * @param waiters callers of this process that wait for the resource. The pause scales with this number: a hundred
   *   waiters that each poll a tenth as often find a free lock as quickly as ten, at the same load on the server.
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
