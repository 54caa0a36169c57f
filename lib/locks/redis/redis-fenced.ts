import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { type AcquireCommand, OwnedLockHandle } from "./owned-lock-handle";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";
import { defineScript } from "./script";

export const redisFencedTraits: StrategyTraits = {
  id: "redis-fenced",
  family: "redis",
  kind: "lock",
  mechanism:
    "As redis-lock, and the acquire script increments a counter. PostgreSQL rejects writes with an older token.",
  remark: "fenced",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: "INCR in the acquire script",
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "survives", serverRestart: "breaks" },
};

/**
 * Acquires the lock if it is free, and returns the next fencing token.
 * KEYS[1] lock · KEYS[2] fencing counter · ARGV[1] holder · ARGV[2] TTL in ms · returns the fencing token, or nil if
 * the lock is held · atomic: tokens rise in grant order.
 */
export const acquireScript = defineScript(`
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("INCR", KEYS[2])
end
return nil
`);

/**
 * The key of a resource's fencing counter, which never expires. Named as in Redisson, including its rule for names with
 * a brace.
 */
export function fenceKey(resource: string): string {
  return resource.includes("{") ? `redisson_lock_token:${resource}` : `redisson_lock_token:{${resource}}`;
}

const acquire: AcquireCommand = async (calls, { resource, holderId, ttlMs }) => {
  const token = await calls.run(acquireScript, [resource, fenceKey(resource)], [holderId, ttlMs]);
  return token === null ? { status: "held" } : { status: "granted", fencingToken: BigInt(Number(token)) };
};

/**
 * `redis-lock` with a fencing token on every grant, and a resource that rejects older tokens.
 *
 * Mechanism: as `redis-lock`; the script that acquires the lock also increments a counter.
 *
 * Guarantees what `redis-lock` does. In addition, a holder that outlives its lease (a pause, a stopped process) cannot
 * overwrite its successor: the resource registers the token at the first read and requires it at the write.
 * Broken by a server that restarts empty: its counter starts again at 1. The resource rejects tokens below the highest
 * that it has seen, so sales stop until the counter has caught up; a token equal to the highest lets a second holder
 * in.
 * Fencing token: `INCR` in the acquire script. It rises strictly per resource, over all holders and processes, while
 * the server keeps its data.
 * Clock: the server's clock ends the lease. The holder trusts its own monotonic clock, minus drift. Times in
 * milliseconds.
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
      return new OwnedLockHandle(calls, context, acquire);
    },
  };
  return new LeaseRunner(backend, dependencies, options);
}

/** Registration, listed in all-locks.ts. */
export const redisFenced: LockEntry = {
  traits: redisFencedTraits,
  create: (dependencies) => createRedisFenced(dependencies.redis(), dependencies),
};
