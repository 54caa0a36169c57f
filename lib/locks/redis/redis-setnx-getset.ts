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
    "SETNX key expiresAt; once that is past, GETSET and compare with what was read. Plain DEL, clients' clocks.",
  remark: "clients' clocks",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "client",
  ownerless: true,
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

async function take({ calls, key, context }: OwnerlessAttempt): Promise<boolean> {
  const nowAtEpochMs = Math.floor(context.clock.epochMs());
  const expiresAtEpochMs = nowAtEpochMs + context.ttlMs + 1;
  if ((await calls.call("SETNX", key, expiresAtEpochMs)) === 1) return true;
  const read = await calls.call("GET", key);
  if (read === null || Number(read) > nowAtEpochMs) return false;
  // Of all who saw it expired, the first to overwrite it gets back what it read; the others have moved its expiry.
  return (await calls.call("GETSET", key, expiresAtEpochMs)) === read;
}

/**
 * The lock of the time before `SET NX PX`: the key holds the moment it expires, and whoever finds it past takes it
 * over by `GETSET`, if that still answers what it read.
 *
 * Guarantees one holder at a time while nobody holds longer than the TTL and the clients' wall clocks agree; a holder's
 * crash costs the others one TTL. A client whose clock is ahead steals a live lock; the loser of a take-over moves the
 * winner's expiry; a hold longer than the TTL lets a second holder in, whose lock the first one then deletes. A server
 * restarted empty breaks it. No fencing token, no watchdog.
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
    { traits: redisSetnxGetsetTraits, leaseKind: "unwatched", take },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnxGetset: LockEntry = {
  traits: redisSetnxGetsetTraits,
  create: (dependencies) => createRedisSetnxGetset(dependencies.redis(), dependencies),
};
