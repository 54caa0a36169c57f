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
  /** Failpoint: called after `SETNX` acquired the key and before `PEXPIRE` sets its expiry. A promise is awaited. */
  readonly betweenCommands: (resource: string) => void | Promise<void>;
}

/**
 * `SETNX` with an expiry in a second command.
 *
 * Mechanism: `SETNX key 1`, then `PEXPIRE key ttlMs`; a plain `DEL` releases it.
 *
 * Guarantees one holder at a time while no hold exceeds the TTL. After a holder crash, waiters are blocked for at most
 * one TTL, unless the crash falls between the two commands: then the key never expires (PTTL -1) and blocks all waiters
 * until an operator calls `breakLock`.
 * Broken by: a hold longer than the TTL, which lets a second holder in; the first one then deletes the second one's
 * lock, which lets a third in. Also by a server that restarts empty.
 * Fencing token: none. Watchdog: none. Clock: the server's clock ends the lease; the holder does not check it. Times in
 * milliseconds.
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
      acquire: async ({ calls, key }) => (await calls.call("SETNX", key, 1)) === 1,
      afterAcquire: async ({ calls, key, context }) => {
        const between = betweenCommands?.(context.resource);
        if (between) await between;
        await calls.call("PEXPIRE", key, context.ttlMs);
      },
    },
    { client, dependencies, options: runnerOptions },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnxExpire: LockEntry = {
  traits: redisSetnxExpireTraits,
  create: (dependencies) => {
    const { beforeExpiry } = dependencies;
    const options = beforeExpiry === undefined ? {} : { betweenCommands: beforeExpiry };
    return createRedisSetnxExpire(dependencies.redis(), dependencies, options);
  },
};

declare module "../lock-entry" {
  interface LockDependencies {
    /** Failpoint of a lock whose key exists and has no expiry yet. Absent: no fault. */
    readonly beforeExpiry?: (resource: string) => void;
  }
}
