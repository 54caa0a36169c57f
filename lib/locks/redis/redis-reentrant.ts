import { isLockError } from "../errors";
import type { HandleContext, LeaseBackend, LockHandle } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import { uuidFrom } from "../random";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";
import type { RedisSubscriber } from "./redis-subscriber";
import {
  enterNestedScript,
  extendScript,
  lockScript,
  UNLOCK_MESSAGE,
  unlockChannel,
  unlockScript,
} from "./redisson-protocol";
import { type Waiter, WakeUpQueue } from "./wake-up-queue";

export const redisReentrantTraits: StrategyTraits = {
  id: "redis-reentrant",
  family: "redis",
  kind: "lock",
  mechanism:
    "Redisson's protocol: a hash of holder to hold count. A release publishes a message that wakes waiters. Watchdog renews at ttl/3.",
  remark: "pub/sub",
  needs: ["redis"],
  waiting: "notify",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

/**
 * Poll interval while another kind of lock uses the key (after a strategy switch): its release publishes no message.
 */
const OTHER_LOCK_POLL_MS = 50;

class RedisReentrantHandle implements LockHandle {
  readonly #calls: RedisCalls;
  readonly #context: HandleContext;
  readonly #field: string;
  readonly #waiter: Waiter;
  /** The hold count that the server may store for this handle. */
  #holdCount = 0;
  #heldForMs: number;

  constructor(
    calls: RedisCalls,
    context: HandleContext,
    identity: { readonly field: string; readonly waiter: Waiter },
  ) {
    this.#calls = calls;
    this.#context = context;
    this.#field = identity.field;
    this.#waiter = identity.waiter;
    this.#heldForMs = context.ttlMs;
  }

  async tryAcquire() {
    this.#holdCount = 1;
    this.#waiter.tryStarted();
    const heldForMs = await this.#lock();
    const status = heldForMs === null ? "granted" : "held";
    this.#waiter.tryAnswered(status);
    if (heldForMs !== null) {
      this.#holdCount = 0;
      this.#heldForMs = heldForMs;
    }
    return { status } as const;
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    return this.#waiter.wait(this.#context.clock, this.#heldForMs, signal);
  }

  async renew() {
    const { resource, ttlMs } = this.#context;
    return (await this.#calls.run(extendScript, [resource], [ttlMs, this.#field])) === 1 ? "renewed" : "lost";
  }

  async enterNested() {
    const { resource, ttlMs } = this.#context;
    this.#holdCount += 1;
    const count = await this.#calls.run(enterNestedScript, [resource], [ttlMs, this.#field]);
    if (Number(count) > 0) return "held";
    this.#context.declareLost(new Error("the server reported that this holder no longer has the lock"));
    return "lost";
  }

  async leaveNested() {
    if ((await this.#unlock()) === 0) this.#holdCount -= 1;
  }

  async release(): Promise<"released" | "not_held"> {
    this.#waiter.leave();
    while (this.#holdCount > 0) {
      const left = await this.#unlock();
      if (left === null) return "not_held";
      this.#holdCount -= 1;
      if (left === 1) break;
    }
    return "released";
  }

  /** @returns null if acquired, otherwise how long the lock may stay held without a message */
  async #lock(): Promise<number | null> {
    const { resource, ttlMs } = this.#context;
    try {
      const leftMs = await this.#calls.run(lockScript, [resource], [ttlMs, this.#field]);
      if (leftMs === null) return null;
      // PTTL -1 is a key without expiry that another program set: try again after one TTL. PTTL 0 is the last
      // millisecond of a lock, and Redis deletes the key only after it, so add 1 ms.
      return Number(leftMs) < 0 ? ttlMs : Number(leftMs) + 1;
    } catch (error) {
      if (isLockError(error) && error.message.includes("WRONGTYPE")) return OTHER_LOCK_POLL_MS;
      throw error;
    }
  }

  /** @returns null if this handle does not hold the lock, 0 if entries remain, 1 if the lock is free */
  #unlock(): Promise<unknown> {
    const { resource, ttlMs } = this.#context;
    return this.#calls.run(unlockScript, [resource, unlockChannel(resource)], [UNLOCK_MESSAGE, ttlMs, this.#field]);
  }
}

export interface RedisReentrantClients {
  readonly commands: RedisCommands;
  readonly subscriber: RedisSubscriber;
}

/**
 * Redisson's `RLock`: a lease with a hold count, whose waiters wait for a message instead of polling.
 *
 * Mechanism: a hash stores the hold count by holder. A release publishes on the lock's channel. Every process receives
 * the message once and wakes one of its waiters. A lost message or a failed subscription delays the waiters by at most
 * the holder's remaining TTL. Nested sections (`grant.runNested`) increment the hold count on the server.
 *
 * Guarantees what `redis-lock` does, and is broken by the same faults: a holder paused past the TTL, and a server that
 * restarts empty. Waiters are served in no order.
 * Fencing token: none. Clock: the server's clock ends the lease. The holder trusts its own monotonic clock, minus
 * drift. Times in milliseconds. Name, hash, counts, channel and message follow Redisson, so Redisson clients can share
 * the lock. The latch that newer Redisson versions use for repeated unlocks is left out, because this client never
 * sends a command twice.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redisson.pro/docs/data-and-services/locks-and-synchronizers/
 */
export function createRedisReentrant(
  clients: RedisReentrantClients,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const clientUuid = uuidFrom(dependencies.random);
  const wakeUps = new WakeUpQueue(clients.subscriber, UNLOCK_MESSAGE);
  // Redisson identifies a thread of a client. Here each handle gets a number.
  let threads = 0;
  const backend: LeaseBackend = {
    traits: redisReentrantTraits,
    leaseKind: "ttl",
    createHandle: (context) => {
      threads += 1;
      const { resource } = context;
      const calls = new RedisCalls(clients.commands, { strategyId: redisReentrantTraits.id, resource });
      const waiter = wakeUps.waiter(unlockChannel(resource));
      return new RedisReentrantHandle(calls, context, { field: `${clientUuid}:${threads}`, waiter });
    },
  };
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const redisReentrant: LockEntry = {
  traits: redisReentrantTraits,
  create: (dependencies) =>
    createRedisReentrant({ commands: dependencies.redis(), subscriber: dependencies.redisSubscriber() }, dependencies),
};
