import type { SimStrategy } from "../sale/scenario";
import { etcdLock } from "./etcd";
import { memcachedAdd } from "./memcached";
import { redisFenced, redisLock, redisReentrant, redlock } from "./redis";
import { zkExclusive, zkFenced, zkMutex } from "./zookeeper";

/** Every strategy whose lock is a lease or a session. Locks inside PostgreSQL are tested on a real server instead. */
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
