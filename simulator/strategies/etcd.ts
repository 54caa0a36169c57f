import { type EtcdRequests, etcdOver } from "../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import type { RunnerDependencies } from "../../lib/locks/runner-context";
import type { LockStrategy } from "../../lib/locks/types";
import type { SimStrategy } from "../sale/scenario";
import { etcdGatewayOver } from "../servers/etcd-client";
import { EtcdSession } from "../servers/etcd-session";
import { SimEtcd } from "../servers/sim-etcd";
import { Link, type LinkLimits, type NetworkConditions } from "../world/network";
import { drawClockRate } from "./clock-rate";

const LIMITS: LinkLimits = { silenceMs: 2_000, connectMs: 2_000, mayDeliverLate: true };

/** How often another client of the queue keeps one session for all its holds. */
const SESSION_CHANCE = 0.2;

type CreateLock = (gateway: EtcdRequests, dependencies: RunnerDependencies) => LockStrategy;

/** @param overrides network conditions that replace the drawn ones */
export function etcdStrategy(id: string, create: CreateLock, overrides: Partial<NetworkConditions> = {}): SimStrategy {
  return {
    id,
    ttlsMs: [1_000, 2_000],
    isFenced: true,
    // 2 s lease, 0.5 s until the server notices its end, 2 s lease length until a waiter re-reads after a lost watch.
    maxHoldAfterCrashMs: () => 4_500,
    build: (world, { conditions, resource }) => {
      const server = new SimEtcd(world, "etcd", drawClockRate(world));
      if (world.random.chance(SESSION_CHANCE)) new EtcdSession(world, server, resource).start();
      return {
        servers: [server],
        storesLockOf: ({ name }) => server.storesLockOf(name),
        open: (process, dependencies) => {
          const options = { conditions: { ...conditions, ...overrides }, limits: LIMITS };
          const open = () => new Link(world, { process, server }, options);
          const links: [Link, Link, Link] = [open(), open(), open()];
          const watchLink = open();
          const lock = create(etcdGatewayOver({ world, server, links, watchLink }), dependencies);
          return { lock, links: [...links, watchLink] };
        },
      };
    },
  };
}

export const etcdLock = etcdStrategy("etcd-lock", (gateway, dependencies) =>
  createEtcdLock(etcdOver(gateway), dependencies),
);
