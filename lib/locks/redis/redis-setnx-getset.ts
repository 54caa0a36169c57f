import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { createOwnerless, type OwnerlessAttempt } from "./ownerless";
import type { RedisCommands } from "./redis-port";

export const redisSetnxGetsetTraits: StrategyTraits = {
  id: "redis-setnx-getset",
  family: "redis",
  kind: "lock",
  mechanism:
    "SETNX key expiresAt. After that time, GETSET replaces it if the value is unchanged. Plain DEL, client clocks.",
  remark: "client clocks",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "client",
  ownerless: true,
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

async function acquire({ calls, key, context }: OwnerlessAttempt): Promise<boolean> {
  const nowAtEpochMs = Math.floor(context.clock.epochMs());
  const expiresAtEpochMs = nowAtEpochMs + context.ttlMs + 1;
  if ((await calls.call("SETNX", key, expiresAtEpochMs)) === 1) return true;
  const read = await calls.call("GET", key);
  if (read === null || Number(read) > nowAtEpochMs) return false;
  // Among the waiters that saw it expired, only the first to overwrite it gets back the value it read. The others only
  // move its expiry.
  return (await calls.call("GETSET", key, expiresAtEpochMs)) === read;
}

/**
 * The common Redis lock before `SET NX PX` existed.
 *
 * Mechanism: the key stores its expiry time. A waiter that reads an expired time overwrites it by `GETSET` and has the
 * lock if `GETSET` returns the value it had read. A plain `DEL` releases it.
 *
 * Guarantees one holder at a time while no hold exceeds the TTL and the clients' wall clocks agree. After a holder
 * crash, waiters are blocked for at most one TTL.
 * Broken by: a client clock that runs ahead, which takes over a live lock; a hold longer than the TTL, which lets a
 * second holder in, whose lock the first one then deletes; a server that restarts empty. The loser of a takeover also
 * moves the winner's expiry.
 * Fencing token: none. Watchdog: none. Clock: the clients' wall clocks end the lease. Times in milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/setnx/#handling-deadlocks
 */
export function createRedisSetnxGetset(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  return createOwnerless(
    { traits: redisSetnxGetsetTraits, leaseKind: "unwatched", acquire },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnxGetset: LockEntry = {
  traits: redisSetnxGetsetTraits,
  create: (dependencies) => createRedisSetnxGetset(dependencies.redis(), dependencies),
};
