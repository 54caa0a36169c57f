import { type Backoff, createBackoff } from "./backoff";
import { isLockError, LockError } from "./errors";
import type { GrantedReply, TryReply } from "./lease-backend";
import { createLockHandle, type ManagedHandle, retireHandle } from "./lock-handle-life-cycle";
import { OUTAGE_BACKOFF, type RunnerContext, SHORTEST_TRY_MS, usableLeaseMs } from "./runner-context";
import type { LockRequest } from "./types";
import { withDeadline } from "./with-deadline";

/** A hold that was granted and is still valid. */
export interface Acquired {
  readonly managed: ManagedHandle;
  readonly reply: GrantedReply;
  /** The lease can be relied on until then; Infinity where no clock ends it. */
  readonly validUntilMs: number;
}

type TryVerdict =
  | { readonly status: "acquired"; readonly acquired: Acquired }
  | { readonly status: "held" }
  | { readonly status: "unreachable"; readonly error: LockError };

/**
 * One caller's wait for one lock: try, wait for the turn or back off, try again, until granted, out of time or
 * aborted. Whatever way it ends without a grant, it leaves nothing behind on the server.
 */
export class Acquisition {
  readonly #context: RunnerContext;
  readonly #request: LockRequest;
  /** Aborts when the caller gives up or the strategy is disposed of. */
  readonly #stop: AbortSignal;
  readonly startedMs: number;
  readonly #deadlineMs: number;
  readonly #polling: Backoff;
  #managed: ManagedHandle | null = null;
  #outage: { readonly sinceMs: number; readonly error: LockError; readonly backoff: Backoff } | null = null;
  #heard = false;
  attempts = 0;
  poolWaitMs = 0;

  constructor(context: RunnerContext, request: LockRequest, stop: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#stop = stop;
    this.startedMs = context.clock.nowMs();
    this.#deadlineMs = this.startedMs + request.waitTimeoutMs;
    this.#polling = createBackoff(context.options.backoff, context.random);
  }

  /** @returns null when the wait was over before the lock was free */
  async run(): Promise<Acquired | null> {
    const leaveCrowd = this.#context.joinWaiters(this.#request.resource);
    try {
      return await this.#contend();
    } finally {
      leaveCrowd();
      await this.#retire();
    }
  }

  async #contend(): Promise<Acquired | null> {
    for (;;) {
      this.#throwIfStopped();
      const sentAtMs = this.#context.clock.nowMs();
      const verdict = await this.#tryOnce(sentAtMs);
      if (verdict.status === "acquired") return verdict.acquired;
      this.#throwIfStopped();
      this.#noteOutage(verdict, sentAtMs);
      if (this.#leftMs() <= 0) return this.#giveUp();
      await this.#pause();
      if (this.#leftMs() <= 0) return this.#giveUp();
    }
  }

  async #tryOnce(sentAtMs: number): Promise<TryVerdict> {
    const { clock, options, backend } = this.#context;
    this.#managed ??= createLockHandle(this.#context, this.#request);
    const managed = this.#managed;
    this.attempts += 1;
    const limitMs = this.#tryLimitMs();
    const gaveUp = new AbortController();
    const work = managed.handle.tryAcquire({ waitLimitMs: Math.max(0, this.#leftMs()), signal: gaveUp.signal });
    const settled = await withDeadline(clock, work, { limitMs, signal: this.#stop });
    if (settled.status === "value") return this.#judge(settled.value, managed, sentAtMs);
    const { isDisconnected = false } = managed.handle;
    gaveUp.abort();
    await this.#retire(settled.status === "error" ? undefined : work);
    if (settled.status === "error") return { status: "unreachable", error: asUnreachable(settled.error) };
    // A try that the end of the wait cut short says nothing about a server that has answered the one before.
    if (this.#heard && !this.#outage && !isDisconnected && limitMs < options.tryLimitMs) return { status: "held" };
    const { id: strategyId } = backend.traits;
    const message = `no answer within ${Math.round(limitMs)} ms`;
    const { resource } = this.#request;
    return {
      status: "unreachable",
      error: new LockError({ code: "backend_unavailable", strategyId, resource, message, isDefinite: true }),
    };
  }

  /** A grant counts only while its lease, counted from before the request was sent, can still be relied on. */
  async #judge(reply: TryReply, managed: ManagedHandle, sentAtMs: number): Promise<TryVerdict> {
    this.#heard = true;
    this.poolWaitMs += reply.poolWaitMs ?? 0;
    if (reply.status === "held") return { status: "held" };
    const { clock, options, backend } = this.#context;
    const leaseMs = reply.validForMs ?? this.#request.ttlMs;
    const validUntilMs = backend.leaseKind === "ttl" ? sentAtMs + usableLeaseMs(leaseMs, options) : Infinity;
    if (clock.nowMs() < validUntilMs && !managed.lost.aborted && !this.#stop.aborted) {
      this.#managed = null;
      return { status: "acquired", acquired: { managed, reply, validUntilMs } };
    }
    await this.#retire();
    return { status: "held" };
  }

  async #pause(): Promise<void> {
    const { clock } = this.#context;
    const waitForTurn = this.#managed?.handle.waitForTurn?.bind(this.#managed.handle);
    if (this.#outage || !waitForTurn) {
      const pauseMs = (this.#outage?.backoff ?? this.#polling).nextMs(this.#context.waitersOf(this.#request.resource));
      return clock.sleep(Math.min(pauseMs, this.#leftMs()), this.#stop);
    }
    const enough = new AbortController();
    const work = waitForTurn(enough.signal);
    const settled = await withDeadline(clock, work, { limitMs: this.#leftMs(), signal: this.#stop });
    enough.abort();
    // What failed here fails again in the next try, which knows what to make of it.
    if (settled.status === "error") asUnreachable(settled.error);
    await Promise.allSettled([work]);
  }

  #noteOutage(verdict: TryVerdict, sentAtMs: number): void {
    if (verdict.status !== "unreachable") {
      this.#outage = null;
      return;
    }
    const { clock, options, random } = this.#context;
    const { sinceMs, backoff } = this.#outage ?? { sinceMs: sentAtMs, backoff: createBackoff(OUTAGE_BACKOFF, random) };
    this.#outage = { sinceMs, backoff, error: verdict.error };
    if (clock.nowMs() - sinceMs >= options.outageToleranceMs) throw verdict.error;
  }

  #giveUp(): null {
    if (this.#outage) throw this.#outage.error;
    return null;
  }

  #throwIfStopped(): void {
    if (!this.#stop.aborted) return;
    const { id: strategyId } = this.#context.backend.traits;
    const message = "the caller stopped waiting";
    const { resource } = this.#request;
    throw new LockError({
      code: "aborted",
      strategyId,
      resource,
      message,
      isDefinite: true,
      cause: this.#stop.reason,
    });
  }

  #leftMs(): number {
    return this.#deadlineMs - this.#context.clock.nowMs();
  }

  #tryLimitMs(): number {
    const { options, backend } = this.#context;
    const limitMs =
      backend.leaseKind === "ttl" ? Math.min(options.tryLimitMs, this.#request.ttlMs) : options.tryLimitMs;
    if (backend.waitsInTry) return limitMs + Math.max(0, this.#leftMs());
    if (this.#request.waitTimeoutMs === 0) return limitMs;
    return Math.min(limitMs, Math.max(SHORTEST_TRY_MS, this.#leftMs()));
  }

  async #retire(unanswered?: Promise<TryReply>): Promise<void> {
    const managed = this.#managed;
    this.#managed = null;
    if (managed) await retireHandle(this.#context, managed, unanswered);
  }
}

/** Only what says "the server is unreachable" is worth another try; anything else goes to the caller as it is. */
function asUnreachable(error: unknown): LockError {
  if (isLockError(error) && (error.code === "backend_unavailable" || error.code === "quorum_failed")) return error;
  throw error;
}
