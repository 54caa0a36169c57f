import type { Clock } from "../clock";
import { LockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle, TryLimits, TryReply } from "../lease-backend";
import type { StrategyTraits } from "../types";

export interface FakeCall {
  readonly kind: "try" | "renew" | "release";
  readonly holderId: string;
  readonly atMs: number;
}

const fakeTraits: StrategyTraits = {
  id: "fake-lease",
  family: "baseline",
  kind: "lock",
  mechanism: "An in-memory lease for tests of the runner.",
  remark: "fake",
  needs: [],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

/** An in-memory lease server on an injected clock, behind a network that a test can delay or cut. */
export class FakeLeaseServer {
  readonly #clock: Clock;
  readonly #leases = new Map<string, { readonly holderId: string; readonly untilMs: number }>();
  /** Every request that reached the server. */
  readonly calls: FakeCall[] = [];
  /** Signals of the tries. */
  readonly trySignals: AbortSignal[] = [];
  requestDelayMs = 1;
  replyDelayMs = 1;
  /** Extra delay per kind of request, to make requests overtake each other. */
  extraDelayMs: (kind: FakeCall["kind"]) => number = () => 0;
  /** The server refuses connections. */
  isDown = false;
  /** The requests whose reply is lost, although the server executes them. */
  losesReplyTo: (kind: FakeCall["kind"]) => boolean = () => false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  holderOf(resource: string): string | null {
    const lease = this.#leases.get(resource);
    return lease && lease.untilMs > this.#clock.nowMs() ? lease.holderId : null;
  }

  /** Deletes a hold, as after a restart without data. */
  forget(resource: string): void {
    this.#leases.delete(resource);
  }

  callsOf(kind: FakeCall["kind"]): readonly FakeCall[] {
    return this.calls.filter((call) => call.kind === kind);
  }

  backend(overrides: Partial<LeaseBackend> = {}, extend: (context: HandleContext) => Partial<LockHandle> = () => ({})) {
    const createHandle = (context: HandleContext): LockHandle => ({ ...this.#handle(context), ...extend(context) });
    return { traits: fakeTraits, leaseKind: "ttl", createHandle, ...overrides } satisfies LeaseBackend;
  }

  #handle({ resource, holderId, ttlMs }: HandleContext): LockHandle {
    let mayHold = false;
    const isOwn = () => this.holderOf(resource) === holderId;
    const hold = () => this.#leases.set(resource, { holderId, untilMs: this.#clock.nowMs() + ttlMs });
    return {
      tryAcquire: async ({ signal }: TryLimits) => {
        this.trySignals.push(signal);
        mayHold = true;
        const reply = await this.#exchange<TryReply>({ kind: "try", holderId }, () => {
          if (this.holderOf(resource) !== null) return { status: "held" };
          hold();
          return { status: "granted" };
        });
        mayHold = reply.status === "granted";
        return reply;
      },
      renew: () => this.#exchange({ kind: "renew", holderId }, () => (isOwn() && hold() ? "renewed" : "lost")),
      release: async () => {
        if (!mayHold) return "released";
        return this.#exchange({ kind: "release", holderId }, () =>
          isOwn() && this.#leases.delete(resource) ? "released" : "not_held",
        );
      },
    };
  }

  async #exchange<T>(call: Omit<FakeCall, "atMs">, execute: () => T): Promise<T> {
    await this.#clock.sleep(this.requestDelayMs + this.extraDelayMs(call.kind));
    if (this.isDown) throw unreachable();
    this.calls.push({ ...call, atMs: this.#clock.nowMs() });
    const reply = execute();
    if (this.losesReplyTo(call.kind)) return new Promise<T>(() => {});
    await this.#clock.sleep(this.replyDelayMs);
    return reply;
  }
}

function unreachable(): LockError {
  const message = "connection refused";
  return new LockError({
    code: "backend_unavailable",
    strategyId: "fake-lease",
    resource: "-",
    message,
    isDefinite: true,
  });
}
