import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { OwnedLockHandle, type Take } from "./owned-lock-handle";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";

export const redisLockTraits: StrategyTraits = {
  id: "redis-lock",
  family: "redis",
  kind: "lock",
  mechanism: "SET key holder NX PX ttl; Lua compares the holder before it deletes or renews; watchdog at ttl/3.",
  remark: "lease",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

const take: Take = async (calls, { resource, holderId, ttlMs }) => {
  const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
  return { status: reply === "OK" ? "granted" : "held" };
};

/**
 * A lease in one Redis: `SET resource holderId NX PX ttlMs`, freed and renewed only by its holder.
 *
 * Guarantees one holder at a time while the server keeps its data and no holder outlives its lease unnoticed. A holder
 * paused past the TTL (the write may follow the pause) and a server restarted empty or failed over break it; a
 * holder's crash costs the others one TTL. Waiters poll with jitter and are served in no order.
 * No fencing token: guard the resource with `redis-fenced` where a pause must not cost an oversell.
 * The server's clock ends the lease; the caller's monotonic clock, minus drift, says when to stop believing in it.
 * The key is the resource as given and the value a random string, so redis-py's `Lock` shares it.
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
      return new OwnedLockHandle(calls, context, take);
    },
  };
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const redisLock: LockEntry = {
  traits: redisLockTraits,
  create: (dependencies) => createRedisLock(dependencies.redis(), dependencies),
};
