import { type Backoff, createBackoff } from "./backoff";
import { isLockError, LockError } from "./errors";
import type { GrantedReply, LeaseBackend, TryReply } from "./lease-backend";
import { createLockHandle, type ManagedHandle, retireHandle } from "./lock-handle-life-cycle";
import { MIN_TRY_LIMIT_MS, OUTAGE_BACKOFF, type RunnerContext, UNDO_RESERVE_MS, usableLeaseMs } from "./runner-context";
import type { LockRequest } from "./types";
import { withDeadline } from "./with-deadline";

/** A hold that was granted and is still valid. */
export interface Acquired {
  readonly managed: ManagedHandle;
  readonly reply: GrantedReply;
  /** The lease can be trusted until this time. Infinity if no clock ends it. */
  readonly validUntilMs: number;
  /** The lease has ended on the server by this time. Infinity if no clock ends it. */
  readonly endsAtMs: number;
  /** What is left of `overrunLimitMs`, because the grant may come after the end of the wait. */
  readonly overrunLeftMs: number;
}

type TryResult =
  | { readonly status: "acquired"; readonly acquired: Acquired }
  | { readonly status: "held" }
  | { readonly status: "unreachable"; readonly error: LockError };

/**
 * One caller's wait for one lock: try, wait for the turn or back off, and try again, until the lock is granted, the
 * wait times out or the caller aborts. Without a grant, it leaves nothing behind on the server.
 */
export class Acquisition {
  readonly #context: RunnerContext;
  readonly #request: LockRequest;
  /** Aborts when the caller gives up or the strategy is disposed. */
  readonly #waitSignal: AbortSignal;
  readonly startedMs: number;
  readonly #deadlineMs: number;
  readonly #polling: Backoff;
  #managed: ManagedHandle | null = null;
  #outage: { readonly sinceMs: number; readonly error: LockError; readonly backoff: Backoff } | null = null;
  #hasServerAnswered = false;
  attempts = 0;
  poolWaitMs = 0;

  constructor(context: RunnerContext, request: LockRequest, waitSignal: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#waitSignal = waitSignal;
    this.startedMs = context.clock.nowMs();
    this.#deadlineMs = this.startedMs + request.waitTimeoutMs;
    this.#polling = createBackoff(context.options.backoff, context.random);
  }

  /** @returns null if the wait timed out before the lock was granted */
  async run(): Promise<Acquired | null> {
    const leaveWaiters = this.#context.joinWaiters(this.#request.resource);
    try {
      return await this.#contend();
    } finally {
      leaveWaiters();
      await this.#retire();
    }
  }

  async #contend(): Promise<Acquired | null> {
    for (;;) {
      this.#throwIfAborted();
      const sentAtMs = this.#context.clock.nowMs();
      const result = await this.#tryOnce(sentAtMs);
      if (result.status === "acquired") return result.acquired;
      this.#throwIfAborted();
      this.#noteOutage(result, sentAtMs);
      if (this.#leftMs() <= 0) return this.#giveUp();
      await this.#pause();
      if (this.#leftMs() <= 0) return this.#giveUp();
    }
  }

  async #tryOnce(sentAtMs: number): Promise<TryResult> {
    const { clock, options, backend } = this.#context;
    this.#managed ??= createLockHandle(this.#context, this.#request);
    const managed = this.#managed;
    this.attempts += 1;
    const limitMs = this.#tryLimitMs();
    const tryAborted = new AbortController();
    const work = managed.handle.tryAcquire({ waitLimitMs: Math.max(0, this.#leftMs()), signal: tryAborted.signal });
    const settled = await withDeadline(clock, work, { limitMs, signal: this.#waitSignal });
    if (settled.status === "value") return this.#evaluateReply(settled.value, managed, sentAtMs);
    const { isDisconnected = false } = managed.handle;
    tryAborted.abort();
    await this.#retire(settled.status === "error" ? null : work);
    if (settled.status === "error") return { status: "unreachable", error: asUnreachable(settled.error) };
    // The wait timed out during this try. If the server answered the previous try, report contention, not an outage.
    if (this.#hasServerAnswered && !this.#outage && !isDisconnected && limitMs < options.tryLimitMs)
      return { status: "held" };
    const { id: strategyId } = backend.traits;
    const message = `the server did not answer within ${Math.round(limitMs)} ms`;
    const { resource } = this.#request;
    return {
      status: "unreachable",
      error: new LockError({ code: "backend_unavailable", strategyId, resource, message, isDefinite: true }),
    };
  }

  /** Accepts a grant only while its lease, counted from before the request was sent, can still be trusted. */
  async #evaluateReply(reply: TryReply, managed: ManagedHandle, sentAtMs: number): Promise<TryResult> {
    this.#hasServerAnswered = true;
    this.poolWaitMs += reply.poolWaitMs ?? 0;
    if (reply.status === "held") return { status: "held" };
    const { clock, options, backend } = this.#context;
    const leaseMs = reply.validForMs ?? this.#request.ttlMs;
    const validUntilMs = backend.leaseKind === "ttl" ? sentAtMs + usableLeaseMs(leaseMs, options) : Infinity;
    if (clock.nowMs() < validUntilMs && !managed.lost.aborted && !this.#waitSignal.aborted) {
      this.#managed = null;
      const endsAtMs = hasExpiry(backend) ? clock.nowMs() + leaseMs : Infinity;
      const overrunLeftMs = this.#overrunLeftMs();
      return { status: "acquired", acquired: { managed, reply, validUntilMs, endsAtMs, overrunLeftMs } };
    }
    await this.#retire();
    return { status: "held" };
  }

  async #pause(): Promise<void> {
    const { clock } = this.#context;
    const waitForTurn = this.#managed?.handle.waitForTurn?.bind(this.#managed.handle);
    if (this.#outage || !waitForTurn) {
      const pauseMs = (this.#outage?.backoff ?? this.#polling).nextMs(this.#context.waitersOf(this.#request.resource));
      return clock.sleep(Math.min(pauseMs, this.#leftMs()), this.#waitSignal);
    }
    const stopWaiting = new AbortController();
    const work = waitForTurn(stopWaiting.signal);
    const settled = await withDeadline(clock, work, { limitMs: this.#leftMs(), signal: this.#waitSignal });
    stopWaiting.abort();
    // An unreachable server is reported by the next try. Any other error is rethrown here.
    if (settled.status === "error") asUnreachable(settled.error);
    await Promise.allSettled([work]);
  }

  #noteOutage(result: TryResult, sentAtMs: number): void {
    if (result.status !== "unreachable") {
      this.#outage = null;
      return;
    }
    const { clock, options, random } = this.#context;
    const { sinceMs, backoff } = this.#outage ?? { sinceMs: sentAtMs, backoff: createBackoff(OUTAGE_BACKOFF, random) };
    this.#outage = { sinceMs, backoff, error: result.error };
    if (clock.nowMs() - sinceMs >= options.outageToleranceMs) throw result.error;
  }

  #giveUp(): null {
    if (this.#outage) throw this.#outage.error;
    return null;
  }

  #throwIfAborted(): void {
    if (!this.#waitSignal.aborted) return;
    const { id: strategyId } = this.#context.backend.traits;
    const message = "the wait was aborted by the caller or by disposal";
    const { resource } = this.#request;
    throw new LockError({
      code: "aborted",
      strategyId,
      resource,
      message,
      isDefinite: true,
      cause: this.#waitSignal.reason,
    });
  }

  #leftMs(): number {
    return this.#deadlineMs - this.#context.clock.nowMs();
  }

  #overrunLeftMs(): number {
    return this.#context.options.overrunLimitMs + Math.min(0, this.#leftMs());
  }

  /** A try may outlast the wait, so that a caller that may not wait gets an answer. */
  #tryLimitMs(): number {
    const { options, backend } = this.#context;
    const limitMs =
      backend.leaseKind === "ttl" ? Math.min(options.tryLimitMs, this.#request.ttlMs) : options.tryLimitMs;
    const lastTryLimitMs = Math.min(limitMs, this.#overrunLeftMs() - UNDO_RESERVE_MS);
    if (backend.waitsInTry) return lastTryLimitMs + Math.max(0, this.#leftMs());
    if (this.#request.waitTimeoutMs === 0) return lastTryLimitMs;
    return Math.min(limitMs, Math.max(MIN_TRY_LIMIT_MS, this.#leftMs()));
  }

  async #retire(unanswered: Promise<TryReply> | null = null): Promise<void> {
    const managed = this.#managed;
    this.#managed = null;
    if (managed) await retireHandle(this.#context, managed, { limitMs: this.#overrunLeftMs(), unanswered });
  }
}

/** An unwatched key expires too, although the runner does not watch it. */
function hasExpiry({ leaseKind }: LeaseBackend): boolean {
  return leaseKind === "ttl" || leaseKind === "unwatched";
}

/** Retries make sense only while the server is unreachable. Any other error is rethrown to the caller unchanged. */
function asUnreachable(error: unknown): LockError {
  if (isLockError(error) && (error.code === "backend_unavailable" || error.code === "quorum_failed")) return error;
  throw error;
}
