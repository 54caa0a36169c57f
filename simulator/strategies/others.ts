import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import type { EtcdCommands } from "../../lib/locks/etcd/etcd-port";
import { createMemcachedAdd } from "../../lib/locks/memcached/memcached-add";
import type { MemcachedCommands } from "../../lib/locks/memcached/memcached-port";
import type { RunnerDependencies, RunnerOptions } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import { createZkExclusive } from "../../lib/locks/zookeeper/zk-exclusive";
import { createZkFenced } from "../../lib/locks/zookeeper/zk-fenced";
import { createZkMutex } from "../../lib/locks/zookeeper/zk-mutex";
import type { ZkSession } from "../../lib/locks/zookeeper/zk-port";
import type { SimStrategy } from "../sale/scenario";
import { etcdOver } from "../servers/etcd-client";
import { SimEtcd } from "../servers/sim-etcd";
import { memcachedOver, SimMemcached } from "../servers/sim-memcached";
import { SimZooKeeper } from "../servers/sim-zookeeper";
import { SimZkSession } from "../servers/zookeeper-client";
import { Link, type LinkLimits, type Weather } from "../world/network";
import type { World } from "../world/world";

const WORST_RATE = 0.0035;

function rateOf(world: World): number {
  return 1 + world.random.between(-WORST_RATE, WORST_RATE);
}

const MEMCACHED_LIMITS: LinkLimits = { silenceMs: 1_500, connectMs: 1_500, straggles: true };
/** Its holds outlast their holders by seconds: whoever waits need not ask every few milliseconds. */
const MEMCACHED_OPTIONS: Partial<RunnerOptions> = {
  backoff: { minMs: 10, startMs: 60, growth: 2, perWaiterMs: 60, maxMs: 500 },
};

type CreateMemcached = (client: MemcachedCommands, dependencies: RunnerDependencies) => LockStrategy;

export function oneMemcached(id: string, create: CreateMemcached): SimStrategy {
  return {
    id,
    ttlsMs: [300, 800],
    isFenced: false,
    freedAfterMs: (ttlMs) => (Math.ceil(ttlMs / 1_000) + 1) * 1_000,
    build: (world, { weather }) => {
      const server = new SimMemcached(world, "memcached", rateOf(world));
      return {
        servers: [server],
        open: (process, dependencies) => {
          const link = new Link(world, { process, server }, { weather, limits: MEMCACHED_LIMITS });
          return { lock: create(memcachedOver(link, server), dependencies), links: [link] };
        },
      };
    },
  };
}

/** The server answers a session on its newest connection only. */
const ZK_LIMITS: LinkLimits = { silenceMs: 10_000, connectMs: 1_000, straggles: false };

type CreateZk = (session: ZkSession, dependencies: RunnerDependencies) => LockStrategy;

export function oneZooKeeper(id: string, isFenced: boolean, create: CreateZk): SimStrategy {
  return {
    id,
    ttlsMs: [200, 400],
    isFenced,
    freedAfterMs: (ttlMs) => ttlMs,
    build: (world, { weather, ttlMs }) => {
      const server = new SimZooKeeper(world, "zookeeper", rateOf(world));
      const how = { weather: { ...weather, repeatChance: 0, dropChance: 0 }, limits: ZK_LIMITS };
      return {
        servers: [server],
        open: (process, dependencies) => {
          const link = new Link(world, { process, server }, how);
          const session = new SimZkSession({ world, process, link, server, sessionTimeoutMs: ttlMs });
          const close = () => session[Symbol.asyncDispose]();
          return { lock: create(session, dependencies), links: [link], close };
        },
      };
    },
  };
}

const ETCD_LIMITS: LinkLimits = { silenceMs: 2_000, connectMs: 2_000, straggles: true };

type CreateEtcd = (etcd: EtcdCommands, dependencies: RunnerDependencies) => LockStrategy;

/** @param calmer what of the weather is not to happen */
export function oneEtcd(id: string, create: CreateEtcd, calmer: Partial<Weather> = {}): SimStrategy {
  return {
    id,
    ttlsMs: [1_000, 2_000],
    isFenced: true,
    // A lease of two seconds, half a second in which the server notices, and the lease length that a lost watch costs.
    freedAfterMs: () => 4_500,
    build: (world, { weather }) => {
      const server = new SimEtcd(world, "etcd", rateOf(world));
      return {
        servers: [server],
        open: (process, dependencies) => {
          const how = { weather: { ...weather, ...calmer }, limits: ETCD_LIMITS };
          const open = () => new Link(world, { process, server }, how);
          const links: [Link, Link, Link] = [open(), open(), open()];
          const watchLink = open();
          const lock = create(etcdOver({ world, server, links, watchLink }), dependencies);
          return { lock, links: [...links, watchLink] };
        },
      };
    },
  };
}

export const memcachedAdd = oneMemcached("memcached-add", (client, dependencies) =>
  createMemcachedAdd(client, dependencies, MEMCACHED_OPTIONS),
);
export const zkMutex = oneZooKeeper("zk-mutex", false, createZkMutex);
export const zkExclusive = oneZooKeeper("zk-exclusive", false, createZkExclusive);
export const zkFenced = oneZooKeeper("zk-fenced", true, createZkFenced);
export const etcdLock = oneEtcd("etcd-lock", createEtcdLock);
