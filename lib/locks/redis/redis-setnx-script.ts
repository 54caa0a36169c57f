import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { createOwnerless } from "./ownerless";
import type { RedisCommands } from "./redis-port";
import { defineScript } from "./script";

export const redisSetnxScriptTraits: StrategyTraits = {
  id: "redis-setnx-script",
  family: "redis",
  kind: "lock",
  mechanism: "SETNX key true and PEXPIRE in one Lua script. Plain DEL. No owner, no watchdog.",
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
 * Acquires the lock with an expiry if it is free.
 * KEYS[1] lock · ARGV[1] TTL in ms · returns 1 if acquired, 0 if held · atomic: no crash can separate the two commands.
 */
const acquireScript = defineScript(`
if redis.call("SETNX", KEYS[1], "true") == 1 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  return 1
end
return 0
`);

/**
 * `SETNX` and its expiry in one script.
 *
 * Mechanism: one Lua script runs `SETNX key true` and `PEXPIRE key ttlMs`, so a crash cannot separate them; a plain
 * `DEL` releases the lock. The value `true` does not identify the holder.
 *
 * Guarantees one holder at a time while no hold exceeds the TTL. After a holder crash, waiters are blocked for at most
 * one TTL.
 * Broken by: a hold longer than the TTL (a pause, slow work), which lets a second holder in; the first one then deletes
 * the second one's lock, which lets a third in. Also by a server that restarts empty.
 * Fencing token: none. Watchdog: none. Clock: the server's clock ends the lease; the holder does not check it. Times in
 * milliseconds.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/setnx/
 */
export function createRedisSetnxScript(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  return createOwnerless(
    {
      traits: redisSetnxScriptTraits,
      leaseKind: "unwatched",
      acquire: async ({ calls, key, context }) => (await calls.run(acquireScript, [key], [context.ttlMs])) === 1,
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnxScript: LockEntry = {
  traits: redisSetnxScriptTraits,
  create: (dependencies) => createRedisSetnxScript(dependencies.redis(), dependencies),
};
