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
 * The one-command lease without an owner: `SET key 1 NX PX ttlMs`, freed by a plain `DEL`.
 *
 * Guarantees one holder at a time while nobody holds longer than the TTL; a holder's crash costs the others one TTL. A hold
 * longer than the TTL (a pause, slow work) lets a second holder in, whose lock the first one then deletes, which lets
 * in a third. A server restarted empty breaks it. No fencing token, no watchdog; the server's clock ends the lease, and the
 * holder never looks at its own. `redis-lock` is this with an owner.
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
      take: async ({ calls, key, context }) => (await calls.call("SET", key, 1, "NX", "PX", context.ttlMs)) === "OK",
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetPx: LockEntry = {
  traits: redisSetPxTraits,
  create: (dependencies) => createRedisSetPx(dependencies.redis(), dependencies),
};
