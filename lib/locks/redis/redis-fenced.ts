import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { OwnedLockHandle, type Take } from "./owned-lock-handle";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";
import { defineScript } from "./script";

export const redisFencedTraits: StrategyTraits = {
  id: "redis-fenced",
  family: "redis",
  kind: "lock",
  mechanism:
    "As redis-lock; the script that takes the lock also increments a counter, and PostgreSQL checks that token.",
  remark: "fenced",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: "INCR in the script that takes the lock",
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "breaks" },
};

/**
 * Takes the lock if it is free, and numbers the hold.
 * KEYS[1] lock · KEYS[2] fence counter · ARGV[1] holder · ARGV[2] ttl in ms · returns the fencing token, or nil when the
 * lock is held by somebody · atomic: tokens rise in the order of the grants.
 */
export const takeScript = defineScript(`
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("INCR", KEYS[2])
end
return nil
`);

/** Where a resource's fence counter is; never expires. Redisson's name, with its rule for names that hold a brace. */
export function fenceKey(resource: string): string {
  return resource.includes("{") ? `redisson_lock_token:${resource}` : `redisson_lock_token:{${resource}}`;
}

const take: Take = async (calls, { resource, holderId, ttlMs }) => {
  const token = await calls.run(takeScript, [resource, fenceKey(resource)], [holderId, ttlMs]);
  return token === null ? { status: "held" } : { status: "granted", fencingToken: BigInt(Number(token)) };
};

/**
 * `redis-lock` whose every hold has a number, and a resource that refuses the lower one.
 *
 * Guarantees what `redis-lock` does, and that a holder which outlived its lease (a pause, a stopped process) cannot write
 * over its successor: the token is registered at the first read and required at the write. Token: `INCR` in the script
 * that takes the lock, strictly rising for a resource over all holders and processes while the server keeps its
 * data. A server restarted empty breaks it: the counter starts again at 1. Tokens below the highest that PostgreSQL has seen
 * are refused, so that nothing is sold until the counter has caught up; a token equal to it lets a second holder in.
 * The server's clock ends the lease; the caller's monotonic clock, minus drift, says when to stop believing in it.
 *
 * @throws {LockError} `backend_unavailable`, `config_invalid`, `aborted`; the guarded write throws `fence_stale`
 * @see https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
 */
export function createRedisFenced(
  client: RedisCommands,
  dependencies: RunnerDependencies,
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const backend: LeaseBackend = {
    traits: redisFencedTraits,
    leaseKind: "ttl",
    createHandle: (context) => {
      const calls = new RedisCalls(client, { strategyId: redisFencedTraits.id, resource: context.resource });
      return new OwnedLockHandle(calls, context, take);
    },
  };
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const redisFenced: LockEntry = {
  traits: redisFencedTraits,
  create: (dependencies) => createRedisFenced(dependencies.redis(), dependencies),
};
