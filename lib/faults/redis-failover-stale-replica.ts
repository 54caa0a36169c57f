import type { Fault } from "./fault";
import { failoverWithout } from "./redis-promotion";

/**
 * As `redis-failover`, but one of the two replicas has the lock, and the other one is promoted. `WAIT 1` is satisfied by the
 * first, which is why Redis calls WAIT best effort.
 */
export const redisFailoverStaleReplica: Fault = {
  id: "redis-failover-stale-replica",
  does: "Sells through a Redis with two replicas and three Sentinels, cuts one replica off, then kills the master while a buyer holds the lock, so that the Sentinels promote the replica without the lock.",
  proof:
    "the lock's key, read on the master and missing on the promoted replica; WAIT reported 1 of 2 replicas; ROLE of the promoted replica is master after the master's end; a holder worked from before the end of the master until after the promotion",
  ...failoverWithout(1),
};
