import { isLockError, LockError } from "../../lib/locks/errors";
import { createRedisReentrant } from "../../lib/locks/redis/redis-reentrant";
import type { LockStrategy } from "../../lib/locks/types";
import { redisPubSubStrategy } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** Releases the lock at once when a section fails, also while the database may still be executing its write. */
function releasingAtOnce(lock: LockStrategy): LockStrategy {
  return {
    id: lock.id,
    traits: lock.traits,
    runGuarded: (request, section) =>
      lock.runGuarded(request, async (grant) => {
        try {
          return await section(grant);
        } catch (error) {
          throw isLockError(error) ? new LockError({ ...error, message: error.message, mayBeInFlight: false }) : error;
        }
      }),
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

export const releaseInFlight: Mutant = {
  name: "release while the write is in flight",
  strategy: redisPubSubStrategy("redis-reentrant", (clients, dependencies) =>
    releasingAtOnce(createRedisReentrant(clients, dependencies)),
  ),
  profile: "benign",
  breaks: "lost-update",
};
