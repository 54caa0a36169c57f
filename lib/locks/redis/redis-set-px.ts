import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { createOwnerless } from "./ownerless";
import type { RedisCommands } from "./redis-port";

export const redisSetPxTraits: StrategyTraits = {
  id: "redis-set-px",
  family: "redis",
  kind: "lock",
  mechanism: "SET key 1 NX PX ttl; plain DEL. No owner, no watchdog.",
  remark: "ownerless",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  ownerless: true,
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

/**
 * A lease in one command, without an owner.
 *
 * Mechanism: `SET key 1 NX PX ttlMs`, released by a plain `DEL`. `redis-lock` is this lock with an owner.
 *
 * Guarantees one holder at a time while no hold exceeds the TTL. After a holder crash, waiters are blocked for at most
 * one TTL.
 * Broken by: a hold longer than the TTL (a pause, slow work), which lets a second holder in; the first one then deletes
 * the second one's lock, which lets a third in. Also by a server that restarts empty.
 * Fencing token: none. Watchdog: none. Clock: the server's clock ends the lease; the holder does not check it. Times in
 * milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/set/
 */
export function createRedisSetPx(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  return createOwnerless(
    {
      traits: redisSetPxTraits,
      leaseKind: "unwatched",
      acquire: async ({ calls, key, context }) => (await calls.call("SET", key, 1, "NX", "PX", context.ttlMs)) === "OK",
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetPx: LockEntry = {
  traits: redisSetPxTraits,
  create: (dependencies) => createRedisSetPx(dependencies.redis(), dependencies),
};
