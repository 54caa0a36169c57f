import { Redis, type RedisOptions } from "ioredis";
import { systemClock } from "../../lib/locks/clock";
import type { LockDependencies } from "../../lib/locks/create-lock";
import { openEtcd } from "../../lib/locks/etcd/etcd-client";
import { openMemcached } from "../../lib/locks/memcached/memcached-client";
import { systemRandom } from "../../lib/locks/random";
import { redisOptionsForLocks, redisOptionsForSubscriber } from "../../lib/locks/redis/redis-options";
import { openRedisSession } from "../../lib/locks/redis/redis-session";
import { shareSubscriber } from "../../lib/locks/redis/redis-subscriber";
import type { LockIncident } from "../../lib/locks/runner-context";
import { openZkSession } from "../../lib/locks/zookeeper/zk-session";
import { requireEnv } from "./lab-env";
import { openTestPostgres, type TestPostgres, type TestPostgresOptions } from "./postgres-for-tests";

/** Where a test's servers are. */
export interface LockServers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redlockUrls: readonly string[];
  readonly memcachedUrl: string;
  readonly zookeeperHosts: string;
  readonly etcdUrl: string;
}

/** The servers of the lock tests, from the environment. */
export function lockServers(): LockServers {
  requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "MEMCACHED_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");
  const { REDIS_URL = "", REDLOCK_URLS = "", MEMCACHED_URL = "", ZOOKEEPER_HOSTS = "", ETCD_URL = "" } = process.env;
  return {
    databaseUrl: process.env.DATABASE_URL ?? "",
    redisUrl: REDIS_URL,
    redlockUrls: REDLOCK_URLS.split(","),
    memcachedUrl: MEMCACHED_URL,
    zookeeperHosts: ZOOKEEPER_HOSTS,
    etcdUrl: ETCD_URL,
  };
}

export interface LockClients extends LockDependencies, AsyncDisposable {
  postgres(): TestPostgres;
  redis(): Redis;
  redlock(): Redis[];
  readonly incidents: readonly LockIncident[];
}

export interface LockClientOptions {
  readonly postgres?: TestPostgresOptions;
  /** Of ZooKeeper sessions. */
  readonly sessionTimeoutMs?: number;
}

/** Clients of a test's own, opened as they are asked for and closed with it. */
export function openLockClients(servers: Partial<LockServers> = {}, options: LockClientOptions = {}): LockClients {
  const { databaseUrl, redisUrl, redlockUrls, memcachedUrl, zookeeperHosts, etcdUrl } = {
    ...lockServers(),
    ...servers,
  };
  const closers: (() => unknown)[] = [];
  const incidents: LockIncident[] = [];
  const openRedis = (url: string, options: RedisOptions = redisOptionsForLocks) => {
    const client = new Redis(url, options);
    // The lock reports each command that fails; the client's own event says nothing new.
    client.on("error", () => {});
    closers.push(() => client.disconnect());
    return client;
  };
  const postgres = once(() => {
    const opened = openTestPostgres({ databaseUrl, ...options.postgres });
    closers.push(() => opened[Symbol.asyncDispose]());
    return opened;
  });
  const redis = once(() => openRedis(redisUrl));
  const redisSubscriber = once(() => shareSubscriber(openRedis(redisUrl, redisOptionsForSubscriber)));
  const redlock = once(() => redlockUrls.map((url) => openRedis(url)));
  const zookeeper = once(() => {
    const session = openZkSession(zookeeperHosts, {
      sessionTimeoutMs: options.sessionTimeoutMs ?? TEST_SESSION_TIMEOUT_MS,
    });
    closers.push(() => session[Symbol.asyncDispose]());
    return session;
  });
  const memcached = once(() => {
    const client = openMemcached(memcachedUrl);
    closers.push(() => client[Symbol.asyncDispose]());
    return client;
  });
  const etcd = once(() => {
    const client = openEtcd(etcdUrl);
    closers.push(() => client[Symbol.asyncDispose]());
    return client;
  });
  return {
    clock: systemClock,
    random: systemRandom,
    onIncident: (incident) => incidents.push(incident),
    postgres,
    redis,
    redisSubscriber,
    redisSession: () => openRedisSession(redisUrl),
    redlock,
    memcached,
    zookeeper,
    etcd,
    incidents,
    async [Symbol.asyncDispose]() {
      await Promise.all(closers.map((close) => close()));
    },
  };
}

/** Short, so that a test need not wait long for an expiry; the test servers' tick allows it. */
export const TEST_SESSION_TIMEOUT_MS = 2_000;

function once<T>(create: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}
