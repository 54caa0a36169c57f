import type { Acquired } from "./acquisition";
import { isLockError, LockError } from "./errors";
import { LeaseWatchdog } from "./lease-watchdog";
import { keepHandle, type ReleaseResult, releaseHandle, releaseWithin } from "./lock-handle-life-cycle";
import type { RunnerContext } from "./runner-context";
import type { Grant, LockRequest } from "./types";
import { withDeadline } from "./with-deadline";

type SectionResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

export interface HoldResult<T> {
  readonly value: T;
  readonly lease: "held" | "lost" | "none";
  readonly holdMs: number;
  readonly releaseMs: number;
}

/** One hold from grant to release: runs the critical section, renews the lease, and always releases the lock. */
export class Hold {
  readonly #context: RunnerContext;
  readonly #acquired: Acquired;
  readonly #watchdog: LeaseWatchdog;
  readonly #nested = new Set<Promise<unknown>>();
  readonly #grant: Grant;
  readonly #ttlMs: number;
  #hasEnded = false;
  /** When the last of the section and its nested sections ended, before the commit. */
  #sectionEndedMs: number;
  /** The error of an operation that a server may still be executing. */
  #inFlight: LockError | null = null;

  constructor(context: RunnerContext, acquired: Acquired, request: LockRequest) {
    this.#context = context;
    this.#acquired = acquired;
    this.#ttlMs = request.ttlMs;
    this.#sectionEndedMs = context.clock.nowMs();
    this.#watchdog = new LeaseWatchdog(context, acquired, request.ttlMs);
    const { managed, reply } = acquired;
    this.#grant = {
      holderId: managed.holderId,
      fencingToken: reply.fencingToken ?? null,
      signal: managed.lost,
      leaseLeftMs: () => this.#watchdog.leaseLeftMs,
      tx: reply.tx ?? null,
      runNested: (criticalSection) => this.#runNested(criticalSection),
    };
    managed.lost.addEventListener("abort", this.#onLost, { once: true });
  }

  /**
   * Runs the section, then releases. An error thrown by the section is rethrown after the release. A release that takes
   * longer than the call may last continues in the background. If an operation of the section may still be in flight, the
   * release waits there until the lease has run out.
   */
  async run<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<HoldResult<T>> {
    const { clock } = this.#context;
    const { managed } = this.#acquired;
    const grantedMs = clock.nowMs();
    const result = await this.#runSection(criticalSection);
    this.#hasEnded = true;
    const endedMs = clock.nowMs();
    const wasValid = this.#watchdog.isValid && !managed.lost.aborted;
    const renewal = this.#watchdog.stop();
    managed.lost.removeEventListener("abort", this.#onLost);
    managed.end();
    const released = await this.#release(renewal);
    if (!result.ok) throw result.error;
    const isKept = wasValid && released !== "not_held";
    const lease = this.#context.backend.leaseKind === "none" ? "none" : isKept ? "held" : "lost";
    return { value: result.value, lease, holdMs: endedMs - grantedMs, releaseMs: clock.nowMs() - endedMs };
  }

  async #release(renewal: Promise<unknown> | null): Promise<ReleaseResult> {
    const { managed } = this.#acquired;
    if (!this.#inFlight) {
      const release = () => releaseHandle(this.#context, managed);
      return releaseWithin(this.#context, renewal ? renewal.then(release) : release(), this.#leftMs());
    }
    const { resource, holderId } = managed;
    this.#context.report({ kind: "hold_kept", resource, holderId, cause: this.#inFlight });
    keepHandle(this.#context, managed, this.#ttlMs);
    return "unknown";
  }

  /** How long the call may still last. */
  #leftMs(): number {
    return this.#sectionEndedMs + this.#acquired.overrunLeftMs - this.#context.clock.nowMs();
  }

  #noteInFlight(error: unknown): void {
    if (isLockError(error) && error.mayBeInFlight) this.#inFlight = error;
  }

  async #runSection<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<SectionResult<T>> {
    try {
      const value = await this.#enter(criticalSection);
      // The section may not have awaited its nested sections. They still rely on the lock, so keep the hold until they
      // finish.
      while (this.#nested.size > 0) await Promise.allSettled(this.#nested);
      await this.#acquired.managed.handle.commit?.(this.#leftMs());
      return { ok: true, value };
    } catch (error) {
      this.#noteInFlight(error);
      while (this.#nested.size > 0) await Promise.allSettled(this.#nested);
      return { ok: false, error };
    }
  }

  async #enter<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<T> {
    try {
      return await criticalSection(this.#grant);
    } finally {
      this.#sectionEndedMs = this.#context.clock.nowMs();
    }
  }

  async #runNested<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<T> {
    if (this.#hasEnded || this.#grant.signal.aborted || !this.#watchdog.isValid) throw this.#holdHasEnded();
    const work = this.#nest(criticalSection);
    this.#nested.add(work);
    try {
      return await work;
    } finally {
      this.#nested.delete(work);
    }
  }

  /** A nested call lasts at most its section plus `overrunLimitMs`, which entering and leaving share. */
  async #nest<T>(criticalSection: (grant: Grant) => Promise<T>): Promise<T> {
    const { clock, options } = this.#context;
    const { handle } = this.#acquired.managed;
    const startedMs = clock.nowMs();
    const entered = handle.enterNested && this.#bounded(handle.enterNested(), options.overrunLimitMs);
    if ((await entered) === "lost") throw this.#holdHasEnded();
    const leaveLimitMs = startedMs + options.overrunLimitMs - clock.nowMs();
    try {
      return await this.#enter(criticalSection);
    } catch (error) {
      // The outer section may handle the error, but the operation stays in flight.
      this.#noteInFlight(error);
      throw error;
    } finally {
      if (handle.leaveNested) await this.#leaveNested(handle.leaveNested(), leaveLimitMs);
    }
  }

  async #bounded<T>(work: Promise<T>, limitMs: number): Promise<T> {
    const { clock, backend } = this.#context;
    const settled = await withDeadline(clock, work, { limitMs });
    if (settled.status === "value") return settled.value;
    if (settled.status === "error") throw settled.error;
    const { resource } = this.#acquired.managed;
    const message = `the server did not answer within ${Math.round(limitMs)} ms`;
    const { id: strategyId } = backend.traits;
    throw new LockError({ code: "backend_unavailable", strategyId, resource, message, isDefinite: true });
  }

  /** Reports a failure as an incident, not as an error: the release removes the remaining entry. */
  async #leaveNested(work: Promise<void>, limitMs: number): Promise<void> {
    const [left] = await Promise.allSettled([this.#bounded(work, limitMs)]);
    if (left.status === "fulfilled") return;
    const { resource, holderId } = this.#acquired.managed;
    this.#context.report({ kind: "release_failed", resource, holderId, cause: left.reason });
  }

  #holdHasEnded(): LockError {
    const { traits } = this.#context.backend;
    const { resource } = this.#acquired.managed;
    const message = "the hold has ended, so the nested section did not start; acquire the lock again";
    return new LockError({ code: "lease_lost", strategyId: traits.id, resource, message, isDefinite: true });
  }

  readonly #onLost = () => {
    const { resource, holderId, lost } = this.#acquired.managed;
    this.#context.report({ kind: "lease_lost", resource, holderId, cause: lost.reason });
  };
}
