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
 * The simplest Redis lock.
 *
 * Mechanism: `SETNX key 1` acquires it and `DEL` releases it. It never expires.
 *
 * Guarantees one holder at a time while holders stay alive and the server keeps its data. A paused holder keeps its
 * hold.
 * Broken by: a holder crash, or a `SETNX` whose reply was lost, either of which blocks all waiters until an operator
 * calls `breakLock`; and a server that restarts empty, which lets a second holder in.
 * Fencing token: none. Clock: none; `ttlMs` does not apply. Times in milliseconds.
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
      acquire: async ({ calls, key }) => (await calls.call("SETNX", key, 1)) === 1,
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnx: LockEntry = {
  traits: redisSetnxTraits,
  create: (dependencies) => createRedisSetnx(dependencies.redis(), dependencies),
};
