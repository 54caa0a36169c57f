import type { SimStrategy } from "../sale/scenario";
import { etcdLock, memcachedAdd, zkExclusive, zkFenced, zkMutex } from "./others";
import { redisFenced, redisLock, redisReentrant, redlock } from "./redis";

/** Every lease and session strategy: one line each. */
export const SIM_STRATEGIES: readonly SimStrategy[] = [
  redisLock,
  redisFenced,
  redisReentrant,
  redlock,
  memcachedAdd,
  zkMutex,
  zkExclusive,
  zkFenced,
  etcdLock,
];
