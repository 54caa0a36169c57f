import { Acquisition } from "./acquisition";
import { LockError } from "./errors";
import { Hold } from "./hold";
import type { LeaseBackend } from "./lease-backend";
import {
  DEFAULT_RUNNER_OPTIONS,
  type RunnerContext,
  type RunnerDependencies,
  type RunnerOptions,
} from "./runner-context";
import type { Grant, LockOutcome, LockRequest, LockStrategy, StrategyTraits } from "./types";
import { WaiterCounts } from "./waiter-counts";
import { withDeadline } from "./with-deadline";

const RESOURCE_NAME = /^(?!\.{1,2}$)[A-Za-z0-9:_.-]{1,200}$/;
const MIN_TTL_MS = 10;

/**
 * Turns a `LeaseBackend` into a `LockStrategy`. It implements what every lock needs: waiting, retry, wake-ups, renewal,
 * abort, release, and cleanup after late answers.
 *
 * A call lasts at most `waitTimeoutMs`, plus the critical section, plus one second (`overrunLimitMs` and a tenth for late
 * timers), even if the server does not answer. Closing lasts at most that second after the last section, plus
 * `releaseLimitMs`, plus one second in which the clients end their sessions. If a section left an operation in flight, closing also
 * waits until its lease has ended.
 */
export class LeaseRunner implements LockStrategy {
  readonly id: string;
  readonly traits: StrategyTraits;
  readonly #context: RunnerContext;
  /** Abort controllers of the calls in progress: disposal aborts the waiters. */
  readonly #calls = new Map<AbortController, Promise<unknown>>();
  readonly #cleanUps = new Set<Promise<void>>();
  readonly #keptHolds = new Set<Promise<void>>();
  readonly #waiters = new WaiterCounts();
  #isClosed = false;

  constructor(backend: LeaseBackend, dependencies: RunnerDependencies, options: Partial<RunnerOptions> = {}) {
    const { clock, random, onIncident, renewsLease } = dependencies;
    this.id = backend.traits.id;
    this.traits = backend.traits;
    this.#context = {
      backend,
      clock,
      random,
      options: { ...DEFAULT_RUNNER_OPTIONS, ...options },
      renewsLease: (resource) => options.watchdog !== false && (renewsLease?.(resource) ?? true),
      report: (incident) => onIncident?.({ ...incident, strategyId: backend.traits.id, atMs: clock.nowMs() }),
      joinWaiters: (resource) => this.#waiters.join(resource),
      waitersOf: (resource) => this.#waiters.of(resource),
      trackCleanUp: (work) => track(this.#cleanUps, work),
      trackKeptHold: (work) => track(this.#keptHolds, work),
    };
  }

  async runGuarded<T>(request: LockRequest, criticalSection: (grant: Grant) => Promise<T>): Promise<LockOutcome<T>> {
    this.#checkRequest(request);
    const waitAbort = new AbortController();
    const onAbort = () => waitAbort.abort(request.signal?.reason);
    if (request.signal?.aborted) onAbort();
    request.signal?.addEventListener("abort", onAbort, { once: true });
    const call = this.#run(request, criticalSection, waitAbort.signal);
    this.#calls.set(waitAbort, call);
    try {
      return await call;
    } finally {
      this.#calls.delete(waitAbort);
      request.signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Rejects new calls, aborts waiters, then waits for holders, kept holds and pending cleanup. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { backend, clock, options } = this.#context;
    this.#isClosed = true;
    for (const waitAbort of this.#calls.keys()) waitAbort.abort(new Error("the strategy was disposed"));
    await Promise.allSettled(this.#calls.values());
    // No deadline: each ends with its lease, and an earlier release would let another process in beside the operation.
    await Promise.allSettled(this.#keptHolds);
    await withDeadline(clock, Promise.allSettled(this.#cleanUps), { limitMs: options.releaseLimitMs });
    await backend.close?.();
  }

  async #run<T>(
    request: LockRequest,
    criticalSection: (grant: Grant) => Promise<T>,
    waitSignal: AbortSignal,
  ): Promise<LockOutcome<T>> {
    const { clock } = this.#context;
    const acquisition = new Acquisition(this.#context, request, waitSignal);
    const acquired = await acquisition.run();
    const waitedMs = clock.nowMs() - acquisition.startedMs;
    const { attempts, poolWaitMs } = acquisition;
    if (!acquired) return { status: "contended", waitedMs, attempts };
    const hold = new Hold(this.#context, acquired, request);
    const { value, lease, holdMs, releaseMs } = await hold.run(criticalSection);
    const waitMs = Math.max(0, waitedMs - poolWaitMs);
    return { status: "completed", value, lease, timings: { waitMs, poolWaitMs, holdMs, releaseMs, attempts } };
  }

  #checkRequest({ resource, waitTimeoutMs, ttlMs }: LockRequest): void {
    const problem = this.#isClosed
      ? "the strategy was disposed; create a new one"
      : !RESOURCE_NAME.test(resource)
        ? "resource must be 1 to 200 characters of A-Z a-z 0-9 : _ . -"
        : !(Number.isFinite(waitTimeoutMs) && waitTimeoutMs >= 0)
          ? "waitTimeoutMs must be 0 or more"
          : !(Number.isInteger(ttlMs) && ttlMs >= MIN_TTL_MS)
            ? `ttlMs must be an integer of at least ${MIN_TTL_MS}`
            : null;
    if (problem === null) return;
    throw new LockError({ code: "config_invalid", strategyId: this.id, resource, message: problem, isDefinite: true });
  }
}

function track(works: Set<Promise<void>>, work: Promise<void>): void {
  works.add(work);
  void work.finally(() => works.delete(work));
}
