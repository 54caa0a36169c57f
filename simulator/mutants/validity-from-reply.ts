import type { LeaseBackend, LockHandle } from "../../lib/locks/lease-backend";
import { LeaseRunner } from "../../lib/locks/lease-runner";
import { OwnedLockHandle } from "../../lib/locks/redis/owned-lock-handle";
import { RedisCalls } from "../../lib/locks/redis/redis-calls";
import { redisLockTraits } from "../../lib/locks/redis/redis-lock";
import { redisStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** Counts the lease from the arrival of the reply instead of the sending of the request, so it ignores the network delay. */
export const validityFromReply: Mutant = {
  name: "validity counted from the reply",
  strategy: redisStrategy("redis-lock", false, (client, dependencies) => {
    const backend: LeaseBackend = {
      traits: redisLockTraits,
      leaseKind: "ttl",
      createHandle: (context): LockHandle => {
        const { resource, holderId, ttlMs, clock } = context;
        const calls = new RedisCalls(client, { strategyId: redisLockTraits.id, resource });
        const inner = new OwnedLockHandle(calls, context, async () => {
          const sentAtMs = clock.nowMs();
          const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
          if (reply !== "OK") return { status: "held" };
          return { status: "granted", validForMs: clock.nowMs() - sentAtMs + ttlMs };
        });
        return inner;
      },
    };
    return new LeaseRunner(backend, dependencies);
  }),
  profile: "pause",
  breaks: "mutual-exclusion",
};
