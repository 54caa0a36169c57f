import { createLocalMutex, localMutexTraits } from "./baseline/local-mutex";
import { createNone, noneTraits } from "./baseline/none";
import { LockError } from "./errors";
import { createEtcdLock, etcdLockTraits } from "./etcd/etcd-lock";
import type { EtcdCommands } from "./etcd/etcd-port";
import { createMemcachedAdd, memcachedAddTraits } from "./memcached/memcached-add";
import type { MemcachedCommands } from "./memcached/memcached-port";
import type { PostgresForLocks } from "./postgres/pg-port";
import { createSqlAdvisory, sqlAdvisoryTraits } from "./postgres/sql-advisory";
import { createSqlRowLock, sqlRowLockTraits } from "./postgres/sql-row-lock";
import { createSqlTableLock, sqlTableLockTraits } from "./postgres/sql-table-lock";
import { createRedisFenced, redisFencedTraits } from "./redis/redis-fenced";
import { createRedisGetset, redisGetsetTraits } from "./redis/redis-getset";
import { createRedisLock, redisLockTraits } from "./redis/redis-lock";
import type { RedisCommands, RedisSession } from "./redis/redis-port";
import { createRedisReentrant, redisReentrantTraits } from "./redis/redis-reentrant";
import { createRedisSetPx, redisSetPxTraits } from "./redis/redis-set-px";
import { createRedisSetnx, redisSetnxTraits } from "./redis/redis-setnx";
import { createRedisSetnxExpire, redisSetnxExpireTraits } from "./redis/redis-setnx-expire";
import { createRedisSetnxGetset, redisSetnxGetsetTraits } from "./redis/redis-setnx-getset";
import { createRedisSetnxScript, redisSetnxScriptTraits } from "./redis/redis-setnx-script";
import type { RedisSubscriber } from "./redis/redis-subscriber";
import { createRedlock, redlockTraits } from "./redlock/redlock";
import type { LockStrategy, StrategyTraits } from "./types";
import { createZkExclusive, zkExclusiveTraits } from "./zookeeper/zk-exclusive";
import { createZkFenced, zkFencedTraits } from "./zookeeper/zk-fenced";
import type { ZkLockDependencies } from "./zookeeper/zk-lock";
import { createZkMutex, zkMutexTraits } from "./zookeeper/zk-mutex";
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

/** Every lock of the library: one line each. */
const entries: readonly LockEntry[] = [
  { traits: noneTraits, create: createNone },
  { traits: localMutexTraits, create: createLocalMutex },
  { traits: sqlRowLockTraits, create: (dependencies) => createSqlRowLock(dependencies.postgres(), dependencies) },
  { traits: sqlTableLockTraits, create: (dependencies) => createSqlTableLock(dependencies.postgres(), dependencies) },
  { traits: sqlAdvisoryTraits, create: (dependencies) => createSqlAdvisory(dependencies.postgres(), dependencies) },
  { traits: redisSetnxTraits, create: (dependencies) => createRedisSetnx(dependencies.redis(), dependencies) },
  {
    traits: redisSetnxExpireTraits,
    create: (dependencies) => createRedisSetnxExpire(dependencies.redis(), dependencies),
  },
  {
    traits: redisSetnxScriptTraits,
    create: (dependencies) => createRedisSetnxScript(dependencies.redis(), dependencies),
  },
  { traits: redisSetPxTraits, create: (dependencies) => createRedisSetPx(dependencies.redis(), dependencies) },
  { traits: redisGetsetTraits, create: (dependencies) => createRedisGetset(dependencies.redis(), dependencies) },
  {
    traits: redisSetnxGetsetTraits,
    create: (dependencies) => createRedisSetnxGetset(dependencies.redis(), dependencies),
  },
  { traits: redisLockTraits, create: (dependencies) => createRedisLock(dependencies.redis(), dependencies) },
  {
    traits: redisReentrantTraits,
    create: (dependencies) =>
      createRedisReentrant(
        { commands: dependencies.redis(), subscriber: dependencies.redisSubscriber() },
        dependencies,
      ),
  },
  { traits: redisFencedTraits, create: (dependencies) => createRedisFenced(dependencies.redis(), dependencies) },
  { traits: redlockTraits, create: (dependencies) => createRedlock(dependencies.redlock(), dependencies) },
  { traits: memcachedAddTraits, create: (dependencies) => createMemcachedAdd(dependencies.memcached(), dependencies) },
  { traits: zkExclusiveTraits, create: (dependencies) => createZkExclusive(dependencies.zookeeper(), dependencies) },
  { traits: zkMutexTraits, create: (dependencies) => createZkMutex(dependencies.zookeeper(), dependencies) },
  { traits: zkFencedTraits, create: (dependencies) => createZkFenced(dependencies.zookeeper(), dependencies) },
  { traits: etcdLockTraits, create: (dependencies) => createEtcdLock(dependencies.etcd(), dependencies) },
];

export const lockCatalogue: ReadonlyMap<string, LockEntry> = new Map(entries.map((entry) => [entry.traits.id, entry]));

/** @throws {LockError} `config_invalid` for an unknown id, naming the valid ones */
export function createLock(id: string, dependencies: LockDependencies): LockStrategy {
  const entry = lockCatalogue.get(id);
  if (entry) return entry.create(dependencies);
  const message = `there is no such strategy; valid ids: ${[...lockCatalogue.keys()].join(", ")}`;
  throw new LockError({ code: "config_invalid", strategyId: id, resource: "-", message, isDefinite: true });
}
