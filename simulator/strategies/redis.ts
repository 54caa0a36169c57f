import { createRedisFenced } from "../../lib/locks/redis/redis-fenced";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import type { RedisCommands } from "../../lib/locks/redis/redis-port";
import { createRedisReentrant } from "../../lib/locks/redis/redis-reentrant";
import { shareSubscriber } from "../../lib/locks/redis/redis-subscriber";
import { createRedlock } from "../../lib/locks/redlock/redlock";
import type { RunnerDependencies } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import type { Cluster, Scale, SimStrategy } from "../sale/scenario";
import { redisCommandsOver, SimPubSub } from "../servers/redis-clients";
import { SimRedis } from "../servers/sim-redis";
import { Link, type LinkLimits } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";

/** As `redisOptionsForLocks` sets them. */
const REDIS_LIMITS: LinkLimits = { silenceMs: 2_000, connectMs: 1_500, straggles: true };
const TTLS_MS = [80, 150, 300] as const;
/** How wrong a server's clock may run; a process's as much. Together less than the drift taken off every lease. */
const WORST_RATE = 0.0035;

type CreateLock = (client: RedisCommands, dependencies: RunnerDependencies) => LockStrategy;

export function oneRedis(id: string, isFenced: boolean, create: CreateLock): SimStrategy {
  return {
    id,
    ttlsMs: TTLS_MS,
    isFenced,
    freedAfterMs: (ttlMs) => ttlMs,
    build: (world, { weather }) => {
      const redis = newRedis(world, "redis");
      return {
        servers: [redis],
        open: (process, dependencies) => {
          const link = new Link(world, { process, server: redis }, { weather, limits: REDIS_LIMITS });
          return { lock: create(redisCommandsOver(link, redis), dependencies), links: [link] };
        },
      };
    },
  };
}

type CreateReentrant = (
  clients: { readonly commands: RedisCommands; readonly subscriber: ReturnType<typeof shareSubscriber> },
  dependencies: RunnerDependencies,
) => LockStrategy;

export function redisWithChannels(id: string, create: CreateReentrant): SimStrategy {
  return {
    id,
    ttlsMs: TTLS_MS,
    isFenced: false,
    freedAfterMs: (ttlMs) => ttlMs,
    build: (world, { weather }) => {
      // Its unlock counts down, so the protocol rests on a client that sends nothing twice.
      const how = { weather: { ...weather, repeatChance: 0 }, limits: REDIS_LIMITS };
      const redis = newRedis(world, "redis");
      return {
        servers: [redis],
        open: (process, dependencies) => {
          const links = [1, 2].map(() => new Link(world, { process, server: redis }, how));
          const [commandLink, channelLink] = links as [Link, Link];
          const commands = redisCommandsOver(commandLink, redis);
          const subscriber = shareSubscriber(new SimPubSub(world, channelLink, redis));
          return { lock: create({ commands, subscriber }, dependencies), links };
        },
      };
    },
  };
}

type CreateRedlock = (servers: readonly RedisCommands[], dependencies: RunnerDependencies) => LockStrategy;

/** Mostly three servers, now and then five. */
export function manyRedis(id: string, create: CreateRedlock): SimStrategy {
  return {
    id,
    ttlsMs: TTLS_MS,
    isFenced: false,
    freedAfterMs: (ttlMs) => ttlMs,
    build: (world, scale) => buildRedlock(world, scale, { count: world.random.chance(0.2) ? 5 : 3, create }),
  };
}

function buildRedlock(world: World, { weather }: Scale, how: { count: number; create: CreateRedlock }): Cluster {
  const servers = Array.from({ length: how.count }, (_, at) => newRedis(world, `redlock-${at + 1}`));
  return {
    servers,
    open: (process: SimProcess, dependencies) => {
      const links = servers.map((server) => new Link(world, { process, server }, { weather, limits: REDIS_LIMITS }));
      const clients = servers.map((server, at) => redisCommandsOver(links[at] as Link, server));
      return { lock: how.create(clients, dependencies), links };
    },
  };
}

function newRedis(world: World, name: string): SimRedis {
  return new SimRedis(world, name, 1 + world.random.between(-WORST_RATE, WORST_RATE));
}

export const redisLock = oneRedis("redis-lock", false, createRedisLock);
export const redisFenced = oneRedis("redis-fenced", true, createRedisFenced);
export const redisReentrant = redisWithChannels("redis-reentrant", createRedisReentrant);
export const redlock = manyRedis("redlock", createRedlock);
