import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { createOwnerless } from "./ownerless";
import type { RedisCommands } from "./redis-port";

export const redisSetnxExpireTraits: StrategyTraits = {
  id: "redis-setnx-expire",
  family: "redis",
  kind: "lock",
  mechanism: "SETNX key 1, then PEXPIRE key ttl as a second command; plain DEL. No owner, no watchdog.",
  remark: "two commands",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  ownerless: true,
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "blocks", holderPause: "breaks", serverRestart: "breaks" },
};

export interface RedisSetnxExpireOptions extends RunnerOptions {
  /** Failpoint: awaited after `SETNX` took the key and before it gets its expiry. */
  readonly betweenCommands: () => Promise<void>;
}

/**
 * `SETNX`, then an expiry in a second command: the deadlock of `redis-setnx` mended, all but one gap.
 *
 * Guarantees one holder at a time while nobody holds longer than the TTL. A holder that dies after both commands costs the
 * others one TTL; one that dies between them leaves a key that never expires (PTTL -1) and blocks everybody until an
 * operator frees it (`breakLock`). A hold longer than the TTL lets a second holder in, whose lock the first one then
 * deletes, which lets in a third. A server restarted empty breaks it. No fencing token, no watchdog; the server's clock
 * ends the lease, and the holder never looks at its own.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/setnx/
 */
export function createRedisSetnxExpire(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RedisSetnxExpireOptions> = {},
): LockStrategy {
  const { betweenCommands, ...runnerOptions } = options;
  return createOwnerless(
    {
      traits: redisSetnxExpireTraits,
      leaseKind: "unwatched",
      take: async ({ calls, key }) => (await calls.call("SETNX", key, 1)) === 1,
      finish: async ({ calls, key, context }) => {
        await betweenCommands?.();
        await calls.call("PEXPIRE", key, context.ttlMs);
      },
    },
    { client, dependencies, options: runnerOptions },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnxExpire: LockEntry = {
  traits: redisSetnxExpireTraits,
  create: (dependencies) => createRedisSetnxExpire(dependencies.redis(), dependencies),
};
