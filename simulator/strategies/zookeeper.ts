import type { RunnerDependencies } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import { createZkExclusive } from "../../lib/locks/zookeeper/zk-exclusive";
import { createZkFenced } from "../../lib/locks/zookeeper/zk-fenced";
import { createZkMutex } from "../../lib/locks/zookeeper/zk-mutex";
import type { ZkSession } from "../../lib/locks/zookeeper/zk-port";
import type { SimStrategy } from "../sale/scenario";
import { SimZooKeeper } from "../servers/sim-zookeeper";
import { SimZkSession } from "../servers/zookeeper-client";
import { Link, type LinkLimits } from "../world/network";
import { drawClockRate } from "./clock-rate";

/** The server answers a session only on its newest connection, so an old connection delivers nothing late. */
const LIMITS: LinkLimits = { silenceMs: 10_000, connectMs: 1_000, mayDeliverLate: false };

type CreateLock = (session: ZkSession, dependencies: RunnerDependencies) => LockStrategy;

export function zooKeeperStrategy(id: string, isFenced: boolean, create: CreateLock): SimStrategy {
  return {
    id,
    ttlsMs: [200, 400],
    isFenced,
    maxHoldAfterCrashMs: (ttlMs) => ttlMs,
    build: (world, { conditions, ttlMs }) => {
      const server = new SimZooKeeper(world, "zookeeper", drawClockRate(world));
      const options = { conditions: { ...conditions, repeatChance: 0, dropChance: 0 }, limits: LIMITS };
      return {
        servers: [server],
        open: (process, dependencies) => {
          const link = new Link(world, { process, server }, options);
          const session = new SimZkSession({ world, process, link, server, sessionTimeoutMs: ttlMs });
          const close = () => session[Symbol.asyncDispose]();
          return { lock: create(session, dependencies), links: [link], close };
        },
      };
    },
  };
}

export const zkMutex = zooKeeperStrategy("zk-mutex", false, createZkMutex);
export const zkExclusive = zooKeeperStrategy("zk-exclusive", false, createZkExclusive);
export const zkFenced = zooKeeperStrategy("zk-fenced", true, createZkFenced);
