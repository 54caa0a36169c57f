import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { type AcquireCommand, OwnedLockHandle } from "./owned-lock-handle";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";

export const redisLockTraits: StrategyTraits = {
  id: "redis-lock",
  family: "redis",
  kind: "lock",
  mechanism:
    "SET key holder NX PX ttl. Lua scripts compare the holder before they delete or renew. Watchdog renews at ttl/3.",
  remark: "lease",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

const acquire: AcquireCommand = async (calls, { resource, holderId, ttlMs }) => {
  const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
  return { status: reply === "OK" ? "granted" : "held" };
};

/**
 * A lease in one Redis server.
 *
 * Mechanism: `SET resource holderId NX PX ttlMs`. Scripts compare the holder before they release or renew the lock.
 *
 * Guarantees one holder at a time while the server keeps its data and each holder stops when its lease expires. Broken
 * by: a holder paused past the TTL (its write may follow the pause), and a server that restarts empty or fails over to
 * a replica without the key. After a holder crash, waiters are blocked for at most one TTL. Waiters poll with jitter,
 * in no order.
 * Fencing token: none. Use `redis-fenced` if a pause must not cause an oversell.
 * Clock: the server's clock ends the lease. The holder trusts its own monotonic clock, minus drift. Times in
 * milliseconds. The key is the resource name and the value a random string, so redis-py's `Lock` can share the lock.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/set/#patterns
 */
export function createRedisLock(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const backend: LeaseBackend = {
    traits: redisLockTraits,
    leaseKind: "ttl",
    createHandle: (context) => {
      const calls = new RedisCalls(client, { strategyId: redisLockTraits.id, resource: context.resource });
      return new OwnedLockHandle(calls, context, acquire);
    },
  };
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const redisLock: LockEntry = {
  traits: redisLockTraits,
  create: (dependencies) => createRedisLock(dependencies.redis(), dependencies),
};
