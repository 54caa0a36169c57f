import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { createOwnerless } from "./ownerless";
import type { RedisCommands } from "./redis-port";

export const redisGetsetTraits: StrategyTraits = {
  id: "redis-getset",
  family: "redis",
  kind: "lock",
  mechanism:
    "GETSET key now: nil or a time older than the TTL grants the lock. Losers overwrite the holder's time. Plain DEL.",
  remark: "retries extend it",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "client",
  ownerless: true,
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "blocks", holderPause: "breaks", serverRestart: "breaks" },
};

/**
 * A lock whose value is a time of day.
 *
 * Mechanism: `GETSET key now` writes the caller's time and returns the previous one. No value, or a time older than the
 * TTL, grants the lock. A plain `DEL` releases it.
 *
 * Guarantees one holder at a time while no hold exceeds the TTL and all client clocks agree. A loser overwrites the
 * holder's time before it sees that it lost. Frequent retries therefore keep the lock young: after a holder crash, it
 * stays blocked until every waiter has paused for one TTL.
 * Broken by: a hold longer than the TTL, if no waiter retried during that time (a second holder enters, and the first
 * one deletes its lock); a client clock that runs ahead by the TTL; a server that restarts empty.
 * Fencing token: none. Watchdog: none. Clock: the clients' wall clocks end the lease. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/getset/
 */
export function createRedisGetset(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  return createOwnerless(
    {
      traits: redisGetsetTraits,
      leaseKind: "unwatched",
      acquire: async ({ calls, key, context }) => {
        const nowAtEpochMs = Math.floor(context.clock.epochMs());
        const acquiredAtEpochMs = await calls.call("GETSET", key, nowAtEpochMs);
        return acquiredAtEpochMs === null || nowAtEpochMs - Number(acquiredAtEpochMs) > context.ttlMs;
      },
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisGetset: LockEntry = {
  traits: redisGetsetTraits,
  create: (dependencies) => createRedisGetset(dependencies.redis(), dependencies),
};
