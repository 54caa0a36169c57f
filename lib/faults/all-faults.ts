import { bandwidth } from "./bandwidth";
import { clockJump } from "./clock-jump";
import { commitReplyLost } from "./commit-reply-lost";
import { down } from "./down";
import { etcdLeaderPause } from "./etcd-leader-pause";
import type { Fault } from "./fault";
import type { FaultId } from "./ids";
import { killBetweenSetnxExpire } from "./kill-between-setnx-expire";
import { killHolder } from "./kill-holder";
import { lateGrant } from "./late-grant";
import { lateWrite } from "./late-write";
import { latency } from "./latency";
import { lostCreateReply } from "./lost-create-reply";
import { lostPublish } from "./lost-publish";
import { memcachedFlush } from "./memcached-flush";
import { pauseHolder } from "./pause-holder";
import { pgDisconnect } from "./pg-disconnect";
import { pgFailover } from "./pg-failover";
import { pgStall } from "./pg-stall";
import { pgbouncerTransaction } from "./pgbouncer-transaction";
import { redisFailover } from "./redis-failover";
import { redisFailoverStaleReplica } from "./redis-failover-stale-replica";
import { redisOom } from "./redis-oom";
import { redisRestart } from "./redis-restart";
import { redlockNodeRestart } from "./redlock-node-restart";
import { resetPeer } from "./reset-peer";
import { sessionExpiry } from "./session-expiry";
import { slicer } from "./slicer";
import { slowQuorum } from "./slow-quorum";
import { slowWork } from "./slow-work";
import { storeNodeCrash } from "./store-node-crash";
import { timeout } from "./timeout";
import { zkLeaderKill } from "./zk-leader-kill";
import { zkPartition } from "./zk-partition";

/** Every fault of the lab. */
export const faultsById: Readonly<Record<FaultId, Fault>> = {
  "pause-holder": pauseHolder,
  "slow-work": slowWork,
  "kill-holder": killHolder,
  "store-node-crash": storeNodeCrash,
  "kill-between-setnx-expire": killBetweenSetnxExpire,
  "memcached-flush": memcachedFlush,
  "redis-restart": redisRestart,
  "redis-oom": redisOom,
  "redis-failover": redisFailover,
  "redis-failover-stale-replica": redisFailoverStaleReplica,
  "redlock-node-restart": redlockNodeRestart,
  "clock-jump": clockJump,
  "zk-leader-kill": zkLeaderKill,
  "zk-partition": zkPartition,
  "etcd-leader-pause": etcdLeaderPause,
  "session-expiry": sessionExpiry,
  "pg-disconnect": pgDisconnect,
  "pg-stall": pgStall,
  "pg-failover": pgFailover,
  latency,
  bandwidth,
  slicer,
  timeout,
  reset_peer: resetPeer,
  down,
  "commit-reply-lost": commitReplyLost,
  "late-write": lateWrite,
  "pgbouncer-transaction": pgbouncerTransaction,
  "lost-create-reply": lostCreateReply,
  "lost-publish": lostPublish,
  "slow-quorum": slowQuorum,
  "late-grant": lateGrant,
};
