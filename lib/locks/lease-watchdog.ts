import type { Acquired } from "./acquisition";
import type { TimerHandle } from "./clock";
import { type RunnerContext, usableLeaseMs } from "./runner-context";
import { withDeadline } from "./with-deadline";

/** Renewals per lease length: the third one before the end has failed twice when the lease is lost. */
const RENEWALS_PER_LEASE = 3;

/**
 * Keeps one lease alive: renews it every third of its length and declares it lost the moment it can no longer be
 * relied on. States: watching -> (renewing -> watching)* -> stopped; a loss ends it as well. `stop` returns after the
 * renewal in flight has settled, so that none can follow the release.
 */
export class LeaseWatchdog {
  readonly #context: RunnerContext;
  readonly #acquired: Acquired;
  readonly #ttlMs: number;
  #validUntilMs: number;
  #renewAtMs: number;
  #timer: TimerHandle | null = null;
  #renewal: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(context: RunnerContext, acquired: Acquired, ttlMs: number) {
    this.#context = context;
    this.#acquired = acquired;
    this.#ttlMs = ttlMs;
    this.#validUntilMs = acquired.validUntilMs;
    this.#renewAtMs = this.#nextRenewalMs();
    this.#arm();
  }

  /** False from the moment the lease can no longer be relied on, whether or not a timer has said so yet. */
  get isValid(): boolean {
    return this.#context.clock.nowMs() < this.#validUntilMs;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#disarm();
    await this.#renewal;
  }

  get #renews(): boolean {
    return this.#context.options.watchdog && this.#acquired.managed.handle.renew !== undefined;
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
    if (!this.isValid) this.#lose(new Error("the lease ran out"));
    else if (!this.#renews || this.#context.clock.nowMs() < this.#renewAtMs) this.#arm();
    else this.#renewal = this.#renew();
  }

  /** Bounded by the end of the lease: a renewal that is not answered by then has come too late anyway. */
  async #renew(): Promise<void> {
    const { clock } = this.#context;
    const { handle } = this.#acquired.managed;
    const sentAtMs = clock.nowMs();
    const limitMs = Math.min(this.#ttlMs / RENEWALS_PER_LEASE, this.#validUntilMs - sentAtMs);
    const work = handle.renew?.() ?? Promise.resolve("lost" as const);
    // The end of the lease keeps a timer of its own: after a stall of the process, the wait below gives the answer a
    // moment that the section, which relies on the lease, no longer has.
    this.#timer = clock.setTimer(this.#validUntilMs - sentAtMs, () => this.#lose(new Error("the lease ran out")));
    const settled = await withDeadline(clock, work, { limitMs });
    this.#disarm();
    if (this.#stopped) return;
    if (settled.status === "value" && settled.value === "lost") {
      return this.#lose(new Error("the server says that the hold is gone"));
    }
    if (settled.status === "value") {
      this.#validUntilMs = Math.max(this.#validUntilMs, sentAtMs + usableLeaseMs(this.#ttlMs, this.#context.options));
    } else {
      const cause = settled.status === "error" ? settled.error : new Error("no answer to the renewal");
      this.#report("renewal_failed", cause);
    }
    if (!this.isValid) return this.#lose(new Error("the lease ran out"));
    // A failed renewal is tried again soon, while the lease still has two thirds to run.
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
