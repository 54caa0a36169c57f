import type { Acquired } from "./acquisition";
import type { TimerHandle } from "./clock";
import { endOf } from "./lock-handle-life-cycle";
import { type RunnerContext, usableLeaseMs } from "./runner-context";
import { withDeadline } from "./with-deadline";

/** Renewals per lease length: two may fail before the lease expires. */
const RENEWALS_PER_LEASE = 3;

/**
 * Keeps one lease alive: renews it every third of its length and declares it lost as soon as it can no longer be
 * trusted. States: watching -> (renewing -> watching)* -> stopped; a loss also stops it. A release must wait for the
 * promise that `stop` returns, so that no renewal is executed after it.
 */
export class LeaseWatchdog {
  readonly #context: RunnerContext;
  readonly #acquired: Acquired;
  readonly #ttlMs: number;
  #validUntilMs: number;
  #endsAtMs: number;
  #renewAtMs: number;
  #timer: TimerHandle | null = null;
  #renewal: Promise<void> | null = null;
  #stopped = false;

  constructor(context: RunnerContext, acquired: Acquired, ttlMs: number) {
    this.#context = context;
    this.#acquired = acquired;
    this.#ttlMs = ttlMs;
    this.#validUntilMs = acquired.validUntilMs;
    this.#endsAtMs = acquired.endsAtMs;
    this.#renewAtMs = this.#nextRenewalMs();
    this.#arm();
  }

  /** False as soon as the lease can no longer be trusted, even before a timer has fired. */
  get isValid(): boolean {
    return this.#context.clock.nowMs() < this.#validUntilMs;
  }

  /** Counts from the last answer. A renewal without an answer counts as successful from when it was sent. */
  get leaseLeftMs(): number {
    return this.#endsAtMs - this.#context.clock.nowMs();
  }

  /** @returns the end of the renewal in flight, at most after `releaseLimitMs`; null if none is in flight */
  stop(): Promise<unknown> | null {
    this.#stopped = true;
    this.#disarm();
    const { clock, options } = this.#context;
    return this.#renewal && withDeadline(clock, this.#renewal, { limitMs: options.releaseLimitMs });
  }

  get #renews(): boolean {
    const { handle, resource } = this.#acquired.managed;
    return handle.renew !== undefined && this.#context.renewsLease(resource);
  }

  #nextRenewalMs(): number {
    return this.#context.clock.nowMs() + this.#ttlMs / RENEWALS_PER_LEASE;
  }

  #arm(): void {
    if (this.#stopped || this.#validUntilMs === Infinity) return;
    const dueMs = this.#renews ? Math.min(this.#renewAtMs, this.#validUntilMs) : this.#validUntilMs;
    const { clock } = this.#context;
    this.#timer = clock.setTimer(dueMs - clock.nowMs(), () => this.#onTimer());
  }

  #disarm(): void {
    if (this.#timer) this.#context.clock.clearTimer(this.#timer);
    this.#timer = null;
  }

  #onTimer(): void {
    this.#timer = null;
    if (!this.isValid) this.#lose(new Error("the lease expired before a renewal succeeded"));
    else if (!this.#renews || this.#context.clock.nowMs() < this.#renewAtMs) this.#arm();
    else {
      this.#renewal = this.#renew().finally(() => {
        this.#renewal = null;
      });
    }
  }

  /** Times out when the lease expires: a later answer is useless. */
  async #renew(): Promise<void> {
    const { clock } = this.#context;
    const { handle } = this.#acquired.managed;
    const sentAtMs = clock.nowMs();
    const limitMs = Math.min(this.#ttlMs / RENEWALS_PER_LEASE, this.#validUntilMs - sentAtMs);
    const work = handle.renew?.() ?? Promise.resolve("lost" as const);
    this.#endsAtMs = Math.max(this.#endsAtMs, sentAtMs + this.#ttlMs);
    // After a stall of the process, `withDeadline` grants the answer extra time. The section relies on the lease, so
    // its expiry needs a separate timer.
    this.#timer = clock.setTimer(this.#validUntilMs - sentAtMs, () =>
      this.#lose(new Error("the lease expired before a renewal succeeded")),
    );
    const settled = await withDeadline(clock, work, { limitMs });
    if (settled.status === "late") this.#context.trackCleanUp(endOf(work));
    this.#disarm();
    if (this.#stopped) return;
    if (settled.status === "value" && settled.value === "lost") {
      return this.#lose(new Error("the server reported that this holder no longer has the lock"));
    }
    if (settled.status === "value") {
      this.#endsAtMs = clock.nowMs() + this.#ttlMs;
      this.#validUntilMs = Math.max(this.#validUntilMs, sentAtMs + usableLeaseMs(this.#ttlMs, this.#context.options));
    } else {
      const cause =
        settled.status === "error" ? settled.error : new Error("the server did not answer the renewal in time");
      this.#report("renewal_failed", cause);
    }
    if (!this.isValid) return this.#lose(new Error("the lease expired before a renewal succeeded"));
    // Retry a failed renewal soon, while two thirds of the lease remain.
    this.#renewAtMs = settled.status === "value" ? this.#nextRenewalMs() : clock.nowMs() + this.#ttlMs / 20;
    this.#arm();
  }

  #lose(reason: Error): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#disarm();
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
    this.#acquired.managed.declareLost(reason);
  }

  #report(kind: "renewal_failed", cause: unknown): void {
    const { resource, holderId } = this.#acquired.managed;
    this.#context.report({ kind, resource, holderId, cause });
  }
}
