import type { Fault } from "./fault";
import type { FaultId } from "./ids";
import { memcachedFlush } from "./memcached-flush";
import { pauseHolder } from "./pause-holder";
import { pgDisconnect } from "./pg-disconnect";

/** Every fault of the lab. */
export const faultsById: Readonly<Record<FaultId, Fault>> = {
  "pause-holder": pauseHolder,
  "memcached-flush": memcachedFlush,
  "pg-disconnect": pgDisconnect,
};
