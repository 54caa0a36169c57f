import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { createOwnerless } from "./ownerless";
import type { RedisCommands } from "./redis-port";

export const redisSetnxTraits: StrategyTraits = {
  id: "redis-setnx",
  family: "redis",
  kind: "lock",
  mechanism: "SETNX key 1, later DEL key. No expiry, no owner.",
  remark: "deadlocks",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "none",
  ownerless: true,
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "blocks", holderPause: "survives", serverRestart: "breaks" },
};

/**
 * The first lock everybody writes: `SETNX` takes it, `DEL` frees it, and nothing else does.
 *
 * Guarantees one holder at a time while holders live and the server keeps its data; a paused holder keeps its hold. A
 * holder that dies blocks everybody for ever, and so does a `SETNX` whose reply was lost, until an operator frees the
 * key (`breakLock`). A server restarted empty lets a second holder in. No fencing token; no clock. `ttlMs` does not apply.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/setnx/
 */
export function createRedisSetnx(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  return createOwnerless(
    {
      traits: redisSetnxTraits,
      leaseKind: "none",
      take: async ({ calls, key }) => (await calls.call("SETNX", key, 1)) === 1,
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnx: LockEntry = {
  traits: redisSetnxTraits,
  create: (dependencies) => createRedisSetnx(dependencies.redis(), dependencies),
};
