import type { Fault } from "./fault";
import { failoverWithout } from "./redis-promotion";

/**
 * Kills a Redis master that has a lock which no replica has. Redis replicates after it has answered, so a lock that was
 * granted can be unknown to the replica that becomes the next master.
 */
export const redisFailover: Fault = {
  id: "redis-failover",
  does: "Sells through a Redis with two replicas and three Sentinels, cuts both replicas off, then kills the master while a buyer holds the lock, so that the Sentinels promote a replica.",
  proof:
    "the lock's key, read on the master and missing on the promoted replica; WAIT reported 0 replicas; ROLE of the replica is master after the master's end; a holder worked from before the end of the master until after the promotion",
  ...failoverWithout(2),
};
