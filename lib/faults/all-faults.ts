import type { Fault } from "./fault";
import type { FaultId } from "./ids";
import { killHolder } from "./kill-holder";
import { memcachedFlush } from "./memcached-flush";
import { pauseHolder } from "./pause-holder";
import { pgDisconnect } from "./pg-disconnect";
import { storeNodeCrash } from "./store-node-crash";

/** Every fault of the lab. */
export const faultsById: Readonly<Record<FaultId, Fault>> = {
  "pause-holder": pauseHolder,
  "kill-holder": killHolder,
  "store-node-crash": storeNodeCrash,
  "memcached-flush": memcachedFlush,
  "pg-disconnect": pgDisconnect,
};
