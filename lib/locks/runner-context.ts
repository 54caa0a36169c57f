import type { BackoffPolicy } from "./backoff";
import type { Clock } from "./clock";
import type { LeaseBackend } from "./lease-backend";
import type { RandomSource } from "./random";

/** Something the caller need not act on, but an operator may want to count. */
export interface LockIncident {
  readonly kind: "late_grant_released" | "release_failed" | "renewal_failed" | "lease_lost";
  readonly strategyId: string;
  readonly resource: string;
  readonly holderId: string;
  /** On the injected clock. */
  readonly atMs: number;
  readonly cause?: unknown;
}

export interface RunnerDependencies {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly onIncident?: (incident: LockIncident) => void;
}

/** Every wait of the runner, in one place. */
export interface RunnerOptions {
  /** Pauses of a poller. */
  readonly backoff: BackoffPolicy;
  /** False leaves a lease to run out under slow work: an exhibit, not a recommendation. */
  readonly watchdog: boolean;
  /** Longest wait for the answer to one try. */
  readonly tryLimitMs: number;
  /** Longest wait for the answer to a release. */
  readonly releaseLimitMs: number;
  /** How long a server may stay unreachable before a waiter is told; a shorter outage is waited out. */
  readonly outageToleranceMs: number;
  /** What two clocks may drift apart: `ttlMs * driftFactor + driftMs` is taken off every lease. */
  readonly driftFactor: number;
  readonly driftMs: number;
}

export const DEFAULT_RUNNER_OPTIONS: RunnerOptions = {
  backoff: { minMs: 5, startMs: 20, growth: 2, perWaiterMs: 3, maxMs: 500 },
  watchdog: true,
  tryLimitMs: 2_000,
  releaseLimitMs: 1_000,
  outageToleranceMs: 4_000,
  driftFactor: 0.01,
  driftMs: 2,
};

/** Pauses between tries while the server is unreachable, whatever the strategy: no use in asking faster. */
export const OUTAGE_BACKOFF: BackoffPolicy = { minMs: 20, startMs: 100, growth: 2, perWaiterMs: 500, maxMs: 500 };

/** A try cut shorter than this would say nothing about the server. */
export const SHORTEST_TRY_MS = 100;

/** What the parts of the runner share. */
export interface RunnerContext {
  readonly backend: LeaseBackend;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly options: RunnerOptions;
  report(incident: Omit<LockIncident, "strategyId" | "atMs">): void;
  /** Counts a caller among the waiters of a resource until the returned function is called. */
  joinWaiters(resource: string): () => void;
  waitersOf(resource: string): number;
  /** Clean-up that a call started and could not wait for. */
  trackCleanUp(work: Promise<void>): void;
}

/** How much of a lease of this length can be relied on. */
export function usableLeaseMs(ttlMs: number, options: Pick<RunnerOptions, "driftFactor" | "driftMs">): number {
  return ttlMs - (ttlMs * options.driftFactor + options.driftMs);
}
