import type { LeaseBackend, LockHandle } from "../../lib/locks/lease-backend";
import { LeaseRunner } from "../../lib/locks/lease-runner";
import { OwnedLockHandle } from "../../lib/locks/redis/owned-lock-handle";
import { RedisCalls } from "../../lib/locks/redis/redis-calls";
import { redisLockTraits } from "../../lib/locks/redis/redis-lock";
import { redisStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** The watchdog renews once more after the release, with a SET that does not compare the holder. */
export const renewalAfterRelease: Mutant = {
  name: "renewal after release",
  strategy: redisStrategy("redis-lock", false, (client, dependencies) => {
    const backend: LeaseBackend = {
      traits: redisLockTraits,
      leaseKind: "ttl",
      createHandle: (context): LockHandle => {
        const { resource, holderId, ttlMs } = context;
        const calls = new RedisCalls(client, { strategyId: redisLockTraits.id, resource });
        const inner = new OwnedLockHandle(calls, context, async () => {
          const reply = await calls.call("SET", resource, holderId, "NX", "PX", ttlMs);
          return { status: reply === "OK" ? "granted" : "held" };
        });
        return {
          tryAcquire: () => inner.tryAcquire(),
          renew: () => inner.renew(),
          release: async () => {
            const released = inner.release();
            await Promise.allSettled([calls.call("SET", resource, holderId, "PX", ttlMs)]);
            return released;
          },
        };
      },
    };
    return new LeaseRunner(backend, dependencies);
  }),
  profile: "benign",
  breaks: "renewal-after-release",
};
