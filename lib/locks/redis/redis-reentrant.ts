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
import { type Place, WakeUpQueue } from "./wake-up-queue";

export const redisReentrantTraits: StrategyTraits = {
  id: "redis-reentrant",
  family: "redis",
  kind: "lock",
  mechanism:
    "Redisson's protocol: a hash of holder to hold count; a release publishes, waiters wake; watchdog at ttl/3.",
  remark: "pub/sub",
  needs: ["redis"],
  waiting: "notify",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

/** A lock of another kind holds the name (the shop was switched over just now): its release is published to nobody. */
const OTHER_LOCK_POLL_MS = 50;

class RedisReentrantHandle implements LockHandle {
  readonly #calls: RedisCalls;
  readonly #context: HandleContext;
  readonly #field: string;
  readonly #place: Place;
  /** Entries the server may count for us. */
  #entries = 0;
  #heldForMs: number;

  constructor(calls: RedisCalls, context: HandleContext, own: { readonly field: string; readonly place: Place }) {
    this.#calls = calls;
    this.#context = context;
    this.#field = own.field;
    this.#place = own.place;
    this.#heldForMs = context.ttlMs;
  }

  async tryAcquire() {
    this.#entries = 1;
    this.#place.trying();
    const heldForMs = await this.#lock();
    const status = heldForMs === null ? "granted" : "held";
    this.#place.answered(status);
    if (heldForMs !== null) {
      this.#entries = 0;
      this.#heldForMs = heldForMs;
    }
    return { status } as const;
  }

  waitForTurn(signal: AbortSignal): Promise<void> {
    return this.#place.wait(this.#context.clock, this.#heldForMs, signal);
  }

  async renew() {
    const { resource, ttlMs } = this.#context;
    return (await this.#calls.run(extendScript, [resource], [ttlMs, this.#field])) === 1 ? "renewed" : "lost";
  }

  async enterNested() {
    const { resource, ttlMs } = this.#context;
    this.#entries += 1;
    const count = await this.#calls.run(enterNestedScript, [resource], [ttlMs, this.#field]);
    if (Number(count) > 0) return "held";
    this.#context.declareLost(new Error("the server says that the hold is gone"));
    return "lost";
  }

  async leaveNested() {
    if ((await this.#unlock()) === 0) this.#entries -= 1;
  }

  async release(): Promise<"released" | "not_held"> {
    this.#place.leave();
    while (this.#entries > 0) {
      const left = await this.#unlock();
      if (left === null) return "not_held";
      this.#entries -= 1;
      if (left === 1) break;
    }
    return "released";
  }

  /** @returns null when taken, else how long the lock may stay taken if nobody says a word */
  async #lock(): Promise<number | null> {
    const { resource, ttlMs } = this.#context;
    try {
      const leftMs = await this.#calls.run(lockScript, [resource], [ttlMs, this.#field]);
      if (leftMs === null) return null;
      // A lock without an expiry (PTTL -1) is somebody else's doing; we look again in our own time. PTTL 0 is a lock in
      // its last millisecond: Redis drops a key once its time is past, so that is when to look again.
      return Number(leftMs) < 0 ? ttlMs : Number(leftMs) + 1;
    } catch (error) {
      if (isLockError(error) && error.message.includes("WRONGTYPE")) return OTHER_LOCK_POLL_MS;
      throw error;
    }
  }

  /** @returns null not ours, 0 entries left, 1 free */
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
 * Redisson's `RLock`: a lease with a hold count, whose waiters are told instead of asking.
 *
 * Guarantees what `redis-lock` does and breaks under the same faults: a holder paused past the TTL, a server restarted
 * empty. A release publishes on the lock's channel; every process hears it once and lets one of its waiters try. A message
 * that is lost, or a subscription that never comes about, costs the waiters what was left of the holder's TTL and
 * never a hang. Waiters are served in no order. A nested section (`grant.runNested`) raises the server's hold count.
 * No fencing token. The server's clock ends the lease; the caller's monotonic clock, minus drift, says when to stop
 * believing in it. Name, hash, counts, channel and message are Redisson's, so that its clients share the lock; the latch
 * that newer ones set to make a repeated unlock harmless is left out, since nothing here is sent twice.
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
  const room = new WakeUpQueue(clients.subscriber, UNLOCK_MESSAGE);
  // Redisson names a thread of a client; here each contender is one.
  let threads = 0;
  const backend: LeaseBackend = {
    traits: redisReentrantTraits,
    leaseKind: "ttl",
    createHandle: (context) => {
      threads += 1;
      const { resource } = context;
      const calls = new RedisCalls(clients.commands, { strategyId: redisReentrantTraits.id, resource });
      const place = room.place(unlockChannel(resource));
      return new RedisReentrantHandle(calls, context, { field: `${clientUuid}:${threads}`, place });
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
