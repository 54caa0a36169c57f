import { LockError } from "../errors";
import type { LeaseBackend } from "../lease-backend";
import { LeaseRunner } from "../lease-runner";
import type { LockEntry, LockVariants } from "../lock-entry";
import type { RunnerDependencies, RunnerOptions } from "../runner-context";
import type { LockStrategy, StrategyTraits } from "../types";
import { type AcquireCommand, OwnedLockHandle } from "./owned-lock-handle";
import { RedisCalls } from "./redis-calls";
import type { RedisCommands } from "./redis-port";

export const redisLockTraits: StrategyTraits = {
  id: "redis-lock",
  family: "redis",
  kind: "lock",
  mechanism:
    "SET key holder NX PX ttl. Lua scripts compare the holder before they delete or renew. Watchdog renews at ttl/3.",
  remark: "lease",
  needs: ["redis"],
  waiting: "poll",
  fair: false,
  expiryClock: "server",
  fencingSource: null,
  expected: { alone: "safe", threeNodes: "safe" },
  survives: { holderCrash: "survives", holderPause: "breaks", serverRestart: "breaks" },
};

function waitTraits(replicas: number): StrategyTraits {
  return {
    ...redisLockTraits,
    mechanism: `${redisLockTraits.mechanism} WAIT refuses a lock that too few replicas have.`,
    remark: "replicated",
    replicasToWaitFor: replicas,
  };
}

/** How long WAIT waits. Meanwhile, the server answers no other command of this connection. */
const WAIT_MS = 100;

const acquire: AcquireCommand = async (calls, { resource, holderId, ttlMs }) => {
  const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
  return { status: reply === "OK" ? "granted" : "held" };
};

/** The runner releases a lock that was refused here, and tries again. */
function acquireOnReplicas(replicas: number): AcquireCommand {
  return async (calls, context) => {
    const reply = await acquire(calls, context);
    if (reply.status === "held") return reply;
    const acknowledged = Number(await calls.call("WAIT", replicas, WAIT_MS));
    if (acknowledged >= replicas) return reply;
    throw new LockError({
      code: "quorum_failed",
      strategyId: redisLockTraits.id,
      resource: context.resource,
      message: `${acknowledged} of ${replicas} replicas had the lock after ${WAIT_MS} ms`,
      isDefinite: true,
    });
  };
}

/**
 * A lease in one Redis server.
 *
 * Mechanism: `SET resource holderId NX PX ttlMs`. Scripts compare the holder before they release or renew the lock.
 *
 * Guarantees one holder at a time while the server keeps its data and each holder stops when its lease expires. Broken
 * by: a holder paused past the TTL (its write may follow the pause), and a server that restarts empty or fails over to
 * a replica without the key. After a holder crash, waiters are blocked for at most one TTL. Waiters poll with jitter,
 * in no order.
 * With `redisWaitReplicas`, a grant waits until that many replicas have the lock (`WAIT`), and is refused without them. A
 * failover to one of these replicas then keeps the lock; a failover to another replica loses it.
 * Fencing token: none. Use `redis-fenced` if a pause must not cause an oversell.
 * Clock: the server's clock ends the lease. The holder trusts its own monotonic clock, minus drift. Times in
 * milliseconds. The key is the resource name and the value a random string, so redis-py's `Lock` can share the lock.
 *
 * @throws {LockError} `backend_unavailable`, `quorum_failed` (too few replicas), `config_invalid`, `aborted`
 * @see https://redis.io/docs/latest/commands/set/#patterns
 */
export function createRedisLock(
  client: RedisCommands,
  dependencies: RunnerDependencies & { readonly redisWaitReplicas?: number },
  options: Partial<RunnerOptions> = {},
): LockStrategy {
  const { redisWaitReplicas = 0 } = dependencies;
  const command = redisWaitReplicas > 0 ? acquireOnReplicas(redisWaitReplicas) : acquire;
  const backend: LeaseBackend = {
    traits: traitsFor({ redisWaitReplicas }),
    leaseKind: "ttl",
    createHandle: (context) => {
      const calls = new RedisCalls(client, { strategyId: redisLockTraits.id, resource: context.resource });
      return new OwnedLockHandle(calls, context, command);
    },
  };
  return new LeaseRunner(backend, dependencies, options);
}

function traitsFor({ redisWaitReplicas = 0 }: LockVariants): StrategyTraits {
  return redisWaitReplicas > 0 ? waitTraits(redisWaitReplicas) : redisLockTraits;
}

/** Registration, listed in all-locks.ts. */
export const redisLock: LockEntry = {
  traits: redisLockTraits,
  traitsFor,
  create: (dependencies) => createRedisLock(dependencies.redis(), dependencies),
};
