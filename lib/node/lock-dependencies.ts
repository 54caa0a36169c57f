import { Redis, type RedisOptions } from "ioredis";
import { systemClock } from "../locks/clock";
import type { LockDependencies } from "../locks/create-lock";
import { LockError } from "../locks/errors";
import { openEtcd } from "../locks/etcd/etcd-client";
import { openMemcached } from "../locks/memcached/memcached-client";
import { systemRandom } from "../locks/random";
import { redisOptionsForLocks, redisOptionsForSubscriber } from "../locks/redis/redis-options";
import { openRedisSession } from "../locks/redis/redis-session";
import { shareSubscriber } from "../locks/redis/redis-subscriber";
import type { ZkSession } from "../locks/zookeeper/zk-port";
import { openZkSession } from "../locks/zookeeper/zk-session";
import { env } from "../services/current-env";
import { log } from "../services/log";
import { metrics } from "../services/metrics";
import { missingService, type ServiceName } from "../services/missing-service";
import { processSingleton } from "../services/singleton";
import { postgresForLocks } from "./postgres-for-locks";

interface Clients {
  readonly dependencies: LockDependencies;
  readonly close: () => Promise<void>;
}

/** Clients for the locks of this process. Each is created at first use; all strategies share them. */
export function lockDependencies(): LockDependencies {
  return clients().dependencies;
}

/** Closes every connection that the locks opened. */
export async function closeLockClients(): Promise<void> {
  await clients().close();
}

function clients(): Clients {
  return processSingleton("lock-clients", createClients);
}

function createClients(): Clients {
  const closers: (() => Promise<void>)[] = [];
  const postgres = once(() => postgresForLocks(closers));
  const redis = once(() => openRedis(configured("redis", env().REDIS_URL), closers));
  const redisSubscriber = once(() =>
    shareSubscriber(openRedis(configured("redis", env().REDIS_URL), closers, redisOptionsForSubscriber)),
  );
  const redisSession = () => openRedisSession(configured("redis", env().REDIS_URL));
  const redlock = once(() => {
    const urls = configured("redlock", env().REDLOCK_URLS);
    return urls.map((url) => openRedis(url, closers));
  });
  const zookeeper = once((): ZkSession => {
    const session = openZkSession(configured("zookeeper", env().ZOOKEEPER_HOSTS));
    closers.push(async () => session[Symbol.asyncDispose]());
    return session;
  });
  const memcached = once(() => {
    const client = openMemcached(configured("memcached", env().MEMCACHED_URL));
    closers.push(async () => client[Symbol.asyncDispose]());
    return client;
  });
  const etcd = once(() => {
    const client = openEtcd(configured("etcd", env().ETCD_URL));
    closers.push(async () => client[Symbol.asyncDispose]());
    return client;
  });
  return {
    dependencies: {
      clock: systemClock,
      random: systemRandom,
      postgres,
      redis,
      redisSubscriber,
      redisSession,
      redlock,
      memcached,
      zookeeper,
      etcd,
      onWatchEvent: ({ strategyId }) => metrics().watchEvents.add(strategyId),
    },
    close: async () => {
      await Promise.allSettled(closers.splice(0).map((close) => close()));
    },
  };
}

function openRedis(url: string, closers: (() => Promise<void>)[], options: RedisOptions = redisOptionsForLocks): Redis {
  const client = new Redis(url, options);
  // The lock reports each failed command. Log an outage once, not at every attempt to reconnect.
  let isOutageLogged = false;
  client.on("connect", () => {
    isOutageLogged = false;
  });
  client.on("error", (error: Error) => {
    const facts = { server: "redis", port: client.options.port, reason: error.message };
    if (!isOutageLogged) log().warn(facts, "lost the connection to Redis, reconnecting");
    isOutageLogged = true;
  });
  closers.push(async () => client.disconnect());
  return client;
}

/** @throws LockError `config_invalid` with the setting or command that makes the server available */
function configured<T>(service: Exclude<ServiceName, "postgres">, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new LockError({
    code: "config_invalid",
    strategyId: service,
    resource: "-",
    message: missingService(service) ?? `${service} is not configured`,
    isDefinite: true,
  });
}

function once<T>(create: () => T): () => T {
  let created: { value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
