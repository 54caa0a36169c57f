import { bandwidth } from "./bandwidth";
import { commitReplyLost } from "./commit-reply-lost";
import { down } from "./down";
import type { Fault } from "./fault";
import type { FaultId } from "./ids";
import { killHolder } from "./kill-holder";
import { latency } from "./latency";
import { memcachedFlush } from "./memcached-flush";
import { pauseHolder } from "./pause-holder";
import { pgDisconnect } from "./pg-disconnect";
import { resetPeer } from "./reset-peer";
import { slicer } from "./slicer";
import { storeNodeCrash } from "./store-node-crash";
import { timeout } from "./timeout";

/** Every fault of the lab. */
export const faultsById: Readonly<Record<FaultId, Fault>> = {
  "pause-holder": pauseHolder,
  "kill-holder": killHolder,
  "store-node-crash": storeNodeCrash,
  "memcached-flush": memcachedFlush,
  "pg-disconnect": pgDisconnect,
  latency,
  bandwidth,
  slicer,
  timeout,
  reset_peer: resetPeer,
  down,
  "commit-reply-lost": commitReplyLost,
};
