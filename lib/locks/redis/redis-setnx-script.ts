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
  mechanism: "SETNX key true and PEXPIRE in one Lua script; plain DEL. No owner, no watchdog.",
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
 * Takes the lock with an expiry if it is free.
 * KEYS[1] lock · ARGV[1] ttl in ms · returns 1 taken, 0 held by somebody · atomic: no crash falls between the two.
 */
const takeScript = defineScript(`
if redis.call("SETNX", KEYS[1], "true") == 1 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  return 1
end
return 0
`);

/**
 * `SETNX` and its expiry in one script: no crash can fall between the two. The value says `true`, not whose.
 *
 * Guarantees one holder at a time while nobody holds longer than the TTL; a holder's crash costs the others one TTL. A hold
 * longer than the TTL (a pause, slow work) lets a second holder in, whose lock the first one then deletes, which lets
 * in a third. A server restarted empty breaks it. No fencing token, no watchdog; the server's clock ends the lease, and the
 * holder never looks at its own.
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
      take: async ({ calls, key, context }) => (await calls.run(takeScript, [key], [context.ttlMs])) === 1,
    },
    { client, dependencies, options },
  );
}

/** Registration, listed in all-locks.ts. */
export const redisSetnxScript: LockEntry = {
  traits: redisSetnxScriptTraits,
  create: (dependencies) => createRedisSetnxScript(dependencies.redis(), dependencies),
};
