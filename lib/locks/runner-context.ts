import type { BackoffPolicy } from "./backoff";
import type { Clock } from "./clock";
import type { LeaseBackend } from "./lease-backend";
import type { RandomSource } from "./random";

/** A problem that the caller need not handle but an operator may want to count. */
export interface LockIncident {
  readonly kind: "late_grant_released" | "release_failed" | "renewal_failed" | "lease_lost" | "hold_kept";
  readonly strategyId: string;
  readonly resource: string;
  readonly holderId: string;
  /** Time on the injected clock. */
  readonly atMs: number;
  readonly cause?: unknown;
}

export interface RunnerDependencies {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly onIncident?: (incident: LockIncident) => void;
  /** Failpoint: false if the leases of the resource are not renewed. Absent: they are. */
  readonly renewsLease?: (resource: string) => boolean;
}

/** All waits and limits of the runner. */
export interface RunnerOptions {
  /** Pauses between polls. */
  readonly backoff: BackoffPolicy;
  /** If false, the lease is not renewed and expires under slow work. For demonstrations only. */
  readonly watchdog: boolean;
  /** Maximum wait for the answer to one try. */
  readonly tryLimitMs: number;
  /**
   * How long a call may last beyond its wait and its section. Its last try, its commit and its release share this time. A
   * release that takes longer continues in the background.
   */
  readonly overrunLimitMs: number;
  /** Maximum wait for the answer to a release, in the call and in the background together. */
  readonly releaseLimitMs: number;
  /** How long the server may be unreachable before a waiter gets an error. Shorter outages are retried. */
  readonly outageToleranceMs: number;
  /** Clock drift allowance: the runner subtracts `ttlMs * driftFactor + driftMs` from every lease. */
  readonly driftFactor: number;
  readonly driftMs: number;
}

export const DEFAULT_RUNNER_OPTIONS: RunnerOptions = {
  backoff: { minMs: 5, startMs: 20, growth: 2, perWaiterMs: 3, maxMs: 500 },
  watchdog: true,
  tryLimitMs: 2_000,
  // A tenth of the promised second is left for timers that fire late.
  overrunLimitMs: 900,
  releaseLimitMs: 2_500,
  outageToleranceMs: 4_000,
  driftFactor: 0.01,
  driftMs: 2,
};

/** Pauses between tries while the server is unreachable, for every strategy. */
export const OUTAGE_BACKOFF: BackoffPolicy = { minMs: 20, startMs: 100, growth: 2, perWaiterMs: 500, maxMs: 500 };

/** Minimum time limit of a try: a shorter one would time out even on a healthy server. */
export const MIN_TRY_LIMIT_MS = 100;
/** The part of `overrunLimitMs` that a try leaves for undoing it. */
export const UNDO_RESERVE_MS = 100;

/** What the parts of the runner share. */
export interface RunnerContext {
  readonly backend: LeaseBackend;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly options: RunnerOptions;
  report(incident: Omit<LockIncident, "strategyId" | "atMs">): void;
  /** Counts a caller as a waiter for the resource until the returned function is called. */
  joinWaiters(resource: string): () => void;
  waitersOf(resource: string): number;
  /** Whether the lease of a new hold is renewed. */
  renewsLease(resource: string): boolean;
  /** Registers cleanup that outlives the call. Disposal waits for it. */
  trackCleanUp(work: Promise<void>): void;
  /** Registers a hold that outlives its call until its lease has run out. Disposal waits for its release. */
  trackKeptHold(work: Promise<void>): void;
}

/** The part of a lease that the holder can rely on: its length minus the drift allowance. */
export function usableLeaseMs(ttlMs: number, options: Pick<RunnerOptions, "driftFactor" | "driftMs">): number {
  return ttlMs - (ttlMs * options.driftFactor + options.driftMs);
}
