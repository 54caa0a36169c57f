import type { EtcdCommands } from "./etcd/etcd-port";
import type { MemcachedCommands } from "./memcached/memcached-port";
import type { PostgresForLocks } from "./postgres/pg-port";
import type { RedisCommands, RedisSession } from "./redis/redis-port";
import type { RedisSubscriber } from "./redis/redis-subscriber";
import type { LockStrategy, StrategyTraits } from "./types";
import type { ZkLockDependencies } from "./zookeeper/zk-lock";
import type { ZkSession } from "./zookeeper/zk-port";

/**
 * What strategies are made of. The functions are called when a strategy that needs the server is created, and may be
 * called more than once: hand out one client each time. Clients connect lazily and stay yours to close.
 * A function may throw (a LockError `config_invalid`) when its server is not configured.
 */
export interface LockDependencies extends ZkLockDependencies {
  /** The database with the guarded rows. */
  postgres(): PostgresForLocks;
  /** An ioredis client made with `redisOptionsForLocks`. */
  redis(): RedisCommands;
  /** `shareSubscriber` of an ioredis client of its own, made with `redisOptionsForSubscriber`. */
  redisSubscriber(): RedisSubscriber;
  /** A new one each time; `openRedisSession(url)`. Whoever asks for it closes it. */
  redisSession(): RedisSession;
  /** One client for each of the independent servers, in a fixed order, made with `redisOptionsForLocks`. */
  redlock(): readonly RedisCommands[];
  /** `openMemcached(url)`. */
  memcached(): MemcachedCommands;
  /** `openZkSession(hosts)`. */
  zookeeper(): ZkSession;
  /** `openEtcd(url)`. */
  etcd(): EtcdCommands;
}

export interface LockEntry {
  readonly traits: StrategyTraits;
  create(dependencies: LockDependencies): LockStrategy;
}
