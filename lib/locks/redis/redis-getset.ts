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
    "GETSET key now: nil or older than the TTL means mine. Every loser overwrites the winner's time; plain DEL.",
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
 * The lock that is a time of day: `GETSET key now` writes ours and tells the last one; none, or one that is older than
 * the TTL, means that the lock is ours.
 *
 * Guarantees one holder at a time while nobody holds longer than the TTL and all clocks agree. The loser has overwritten
 * the winner's time before it learns that it lost: retries keep a lock young for as long as anybody retries faster
 * than the TTL, so a dead holder blocks everybody until all have given up for one TTL. A hold longer than the TTL,
 * once nobody has asked for that long, lets a second holder in, whose lock the first one then deletes. A client's clock
 * that runs ahead by the TTL steals a live lock; a server restarted empty breaks it too. No fencing token, no watchdog.
 * The clients' wall clocks end the lease.
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
      take: async ({ calls, key, context }) => {
        const nowAtEpochMs = Math.floor(context.clock.epochMs());
        const takenAtEpochMs = await calls.call("GETSET", key, nowAtEpochMs);
        return takenAtEpochMs === null || nowAtEpochMs - Number(takenAtEpochMs) > context.ttlMs;
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
