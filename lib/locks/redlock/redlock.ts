import type { BackoffPolicy } from "../backoff";
import { LockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RedisCommands } from "../redis/redis-port";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { QuorumAttempt } from "./quorum-attempt";

export const redlockTraits: StrategyTraits = {
  id: "redlock",
  family: "redlock",
  kind: "lock",
  mechanism:
    "SET NX PX on five independent servers at once. A majority in time grants the lock; otherwise the attempt is undone.",
  remark: "quorum lease",
  needs: ["redlock"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

export interface RedlockOptions extends RunnerOptions {
  /** Maximum wait for the answer of one server; never more than a tenth of the TTL. */
  readonly nodeLimitMs: number;
}

/** Longer pauses than with one server: simultaneous tries split the votes and both must start again. */
const REDLOCK_BACKOFF: BackoffPolicy = { minMs: 5, startMs: 50, growth: 2, perWaiterMs: 6, maxMs: 1_000 };
const DEFAULT_NODE_LIMIT_MS = 500;
/** Share of the TTL: small enough that an unreachable server cannot use up the lease. */
const LARGEST_NODE_SHARE = 0.1;

class RedlockHandle implements LockHandle {
  readonly #context: HandleContext;
  readonly #servers: readonly RedisCommands[];
  readonly #nodeLimitMs: number;
  #attempt: QuorumAttempt | null = null;
  #tries = 0;
  /** Failed attempts whose undo is still pending. Only the release waits for them. */
  readonly #undoing = new Set<Promise<unknown>>();

  constructor(context: HandleContext, servers: readonly RedisCommands[], nodeLimitMs: number) {
    this.#context = context;
    this.#servers = servers;
    this.#nodeLimitMs = Math.min(nodeLimitMs, context.ttlMs * LARGEST_NODE_SHARE);
  }

  async tryAcquire() {
    const { holderId } = this.#context;
    this.#tries += 1;
    const attempt = new QuorumAttempt(this.#context, {
      strategyId: redlockTraits.id,
      servers: this.#servers,
      value: this.#tries === 1 ? holderId : `${holderId}.${this.#tries}`,
      nodeLimitMs: this.#nodeLimitMs,
    });
    this.#attempt = attempt;
    const status = await attempt.acquire();
    if (status === "held") {
      this.#attempt = null;
      this.#undo(attempt);
    }
    return { status };
  }

  async renew() {
    return this.#attempt ? this.#attempt.renew() : "lost";
  }

  async release(): Promise<"released" | "not_held"> {
    const current = this.#attempt ? this.#attempt.release() : ("released" as const);
    const [released] = await Promise.all([current, ...this.#undoing]);
    return released;
  }

  #undo(attempt: QuorumAttempt): void {
    const work = attempt.release().finally(() => this.#undoing.delete(work));
    this.#undoing.add(work);
  }
}

/**
 * Redlock: the single-server lease, acquired on a majority of independent servers.
 *
 * Mechanism: all servers are asked at once, each within a limit far below the TTL. A majority grants the lock, and the
 * lease counts from before the first request, minus drift. A failed attempt is undone on every server that may have
 * stored it and repeated after a jittered pause, so that split votes spread out. The watchdog renews on a majority.
 *
 * Guarantees one holder at a time, and progress while a minority of servers is lost. If a majority is unreachable, the
 * call fails with `quorum_failed` and the vote of every server. Broken by: a server that restarts empty within a TTL, a
 * server clock that jumps, and a holder that pauses past the TTL; each lets a second holder in.
 * Fencing token: none, because the servers share no counter.
 * Clock: the servers' clocks end the lease, so they must run at about the same rate. The holder trusts its own
 * monotonic clock. Times in milliseconds.
 *
 * @throws {LockError} `quorum_failed`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/develop/use/patterns/distributed-locks/
 */
export function createRedlock(
  servers: readonly RedisCommands[],
  dependencies: RunnerDependencies,
  options: Partial<RedlockOptions> = {},
): LockStrategy {
  if (servers.length < 3 || servers.length % 2 === 0) {
    const message = `needs an odd number of independent servers, at least three, but got ${servers.length}`;
    const strategyId = redlockTraits.id;
    throw new LockError({ code: "config_invalid", strategyId, resource: "-", message, isDefinite: true });
  }
  const { nodeLimitMs = DEFAULT_NODE_LIMIT_MS, ...runnerOptions } = options;
  const backend: LeaseBackend = {
    traits: redlockTraits,
    leaseKind: "ttl",
    createHandle: (context) => new RedlockHandle(context, servers, nodeLimitMs),
  };
  return new LeaseRunner(backend, dependencies, { backoff: REDLOCK_BACKOFF, ...runnerOptions });
}

/** Registration, listed in all-locks.ts. */
export const redlock: LockEntry = {
  traits: redlockTraits,
  create: (dependencies) => createRedlock(dependencies.redlock(), dependencies),
};

declare module "../lock-entry" {
  interface LockDependencies {
    /** One client per independent server, in a fixed order, made with `redisOptionsForLocks`. */
    redlock(): readonly RedisCommands[];
  }
}
