import { createRedisFenced } from "../../lib/locks/redis/redis-fenced";
import { createRedisLock } from "../../lib/locks/redis/redis-lock";
import type { RedisCommands } from "../../lib/locks/redis/redis-port";
import { createRedisReentrant } from "../../lib/locks/redis/redis-reentrant";
import { shareSubscriber } from "../../lib/locks/redis/redis-subscriber";
import { quorumOf } from "../../lib/locks/redlock/quorum-attempt";
import { createRedlock } from "../../lib/locks/redlock/redlock";
import type { RunnerDependencies } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import type { Cluster, SimStrategy, WorldSettings } from "../sale/scenario";
import { redisCommandsOver, SimPubSub } from "../servers/redis-clients";
import { SimRedis } from "../servers/sim-redis";
import { Link, type LinkLimits } from "../world/network";
import type { SimProcess } from "../world/process";
import type { World } from "../world/world";
import { drawClockRate } from "./clock-rate";

/** The limits that `redisOptionsForLocks` sets. */
const REDIS_LIMITS: LinkLimits = { silenceMs: 2_000, connectMs: 1_500, mayDeliverLate: true };
const TTLS_MS = [80, 150, 300] as const;

type CreateLock = (client: RedisCommands, dependencies: RunnerDependencies) => LockStrategy;

export function redisStrategy(id: string, isFenced: boolean, create: CreateLock): SimStrategy {
  return {
    id,
    ttlsMs: TTLS_MS,
    isFenced,
    maxHoldAfterCrashMs: (ttlMs) => ttlMs,
    build: (world, { conditions }) => {
      const redis = newRedis(world, "redis");
      return {
        ...clusterOf([redis]),
        open: (process, dependencies) => {
          const link = new Link(world, { process, server: redis }, { conditions, limits: REDIS_LIMITS });
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

export function redisPubSubStrategy(id: string, create: CreateReentrant): SimStrategy {
  return {
    id,
    ttlsMs: TTLS_MS,
    isFenced: false,
    maxHoldAfterCrashMs: (ttlMs) => ttlMs,
    build: (world, { conditions }) => {
      // The unlock script decrements a counter, so the protocol requires a client that never sends a command twice.
      const options = { conditions: { ...conditions, repeatChance: 0 }, limits: REDIS_LIMITS };
      const redis = newRedis(world, "redis");
      return {
        ...clusterOf([redis]),
        open: (process, dependencies) => {
          const links = [1, 2].map(() => new Link(world, { process, server: redis }, options));
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

/** Three servers in most worlds, five in one of five. */
export function redlockStrategy(id: string, create: CreateRedlock): SimStrategy {
  return {
    id,
    ttlsMs: TTLS_MS,
    isFenced: false,
    maxHoldAfterCrashMs: (ttlMs) => ttlMs,
    build: (world, scale) => buildRedlock(world, scale, { count: world.random.chance(0.2) ? 5 : 3, create }),
  };
}

function buildRedlock(
  world: World,
  { conditions }: WorldSettings,
  options: { count: number; create: CreateRedlock },
): Cluster {
  const servers = Array.from({ length: options.count }, (_, at) => newRedis(world, `redlock-${at + 1}`));
  return {
    ...clusterOf(servers),
    open: (process: SimProcess, dependencies) => {
      const links = servers.map((server) => new Link(world, { process, server }, { conditions, limits: REDIS_LIMITS }));
      const clients = servers.map((server, at) => redisCommandsOver(links[at] as Link, server));
      return { lock: options.create(clients, dependencies), links };
    },
  };
}

function clusterOf(servers: readonly SimRedis[]): Pick<Cluster, "servers" | "storesLockOf"> {
  const storesLockOf = ({ name }: SimProcess) =>
    servers.filter((server) => server.storesLockOf(name)).length >= quorumOf(servers.length);
  return { servers, storesLockOf };
}

function newRedis(world: World, name: string): SimRedis {
  return new SimRedis(world, name, drawClockRate(world));
}

export const redisLock = redisStrategy("redis-lock", false, createRedisLock);
export const redisFenced = redisStrategy("redis-fenced", true, createRedisFenced);
export const redisReentrant = redisPubSubStrategy("redis-reentrant", createRedisReentrant);
export const redlock = redlockStrategy("redlock", createRedlock);
