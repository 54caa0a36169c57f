import { isLockError } from "../errors";
import { LeaseRunner } from "../lease-runner";
import type { LockIncident, RunnerOptions } from "../runner-context";
import type { LockOutcome, LockRequest } from "../types";
import { FakeClock } from "./fake-clock";
import { FakeLeaseServer } from "./fake-lease-server";
import { seededRandom } from "./seeded-random";

/** The fixture of the runner tests. */
export interface RunnerBench {
  readonly clock: FakeClock;
  readonly server: FakeLeaseServer;
  readonly incidents: LockIncident[];
  /** Creates a runner on the fixture's clock and server. */
  runner(options?: Partial<RunnerOptions>, backend?: ReturnType<FakeLeaseServer["backend"]>): LeaseRunner;
}

export function setUpBench(): RunnerBench {
  const clock = new FakeClock();
  const server = new FakeLeaseServer(clock);
  const incidents: LockIncident[] = [];
  const onIncident = (incident: LockIncident) => incidents.push(incident);
  const runner: RunnerBench["runner"] = (options = {}, backend = server.backend()) =>
    new LeaseRunner(backend, { clock, random: seededRandom(1), onIncident }, options);
  return { clock, server, incidents, runner };
}

export const resource = "product:1";
export const request: LockRequest = { resource, waitTimeoutMs: 1_000, ttlMs: 300 };
/** The usable part of a 300 ms lease: minus 1 % and 2 ms for drift. */
export const USABLE_LEASE_MS = 295;

/** Matches a LockError with that code, for `assert.rejects`. */
export const code = (wanted: string) => (error: unknown) => isLockError(error) && error.code === wanted;

/** Holds the lock until `free` is called. */
export function occupy(
  lock: LeaseRunner,
  overrides: Partial<LockRequest> = {},
): { readonly free: () => void; readonly outcome: Promise<LockOutcome<void>> } {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const outcome = lock.runGuarded({ ...request, ...overrides }, () => freed);
  return { free, outcome };
}

/**
 * Returns the same promise, and calls `then` after the runner has seen it settle but before the runner continues: the only
 * time at which an event can come between a grant and its evaluation.
 */
export function settlingInTurn<T>(work: Promise<T>, then: () => void): Promise<T> {
  queueMicrotask(() => void work.then(then));
  return work;
}
