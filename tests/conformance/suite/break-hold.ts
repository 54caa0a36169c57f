import { randomUUID } from "node:crypto";
import { systemClock } from "../../../lib/locks/clock";
import type { ServerId } from "../../../servers/all-servers";
import { probeEtcd } from "../../support/etcd-probe";
import { type LockClients, lockServers } from "../../support/lock-clients";
import { openPgWatch } from "../../support/pg-watch";
import type { RelayedServers } from "../../support/relayed-servers";

/** A way to take a hold away from its holder, on its real server. */
export interface HoldBreaker {
  /** How, for people. */
  readonly how: string;
  /** The holder's link goes through a relay. */
  readonly needsRelay: boolean;
  /** What ends with the hold, and gives the time to the signal its measure where it has a length. */
  readonly against: "lease" | "session" | "connection";
  /** The design's share of that: when at the latest the holder is told, but for delays. */
  readonly share: number;
  /** The hold of `resource` is over when this returns. @returns when the server was told, on the monotonic clock */
  breakHold(held: BrokenHold): Promise<number>;
}

export interface BrokenHold {
  readonly resource: string;
  /** The holder's own, for what only they know. */
  readonly holders: LockClients;
  /** Of somebody else. */
  readonly clients: LockClients;
  readonly relayed: RelayedServers | null;
}

/** @returns when it began */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = systemClock.nowMs();
  await work();
  return startedMs;
}

/** @throws Error for a server kind whose holds the tests cannot break */
export function holdBreakerOf(id: string): HoldBreaker {
  const breaker = new Map(Object.entries(holdBreakers)).get(id);
  if (breaker) return breaker;
  throw new Error(`tests/conformance/suite/break-hold.ts has no way to break a hold on ${id}`);
}

/** The watchdog asks at a third of the lease, and hears that the hold is gone. */
const RENEWAL = { needsRelay: false, against: "lease", share: 1 / 3 } as const;

const holdBreakers: Record<ServerId, HoldBreaker> = {
  redis: {
    ...RENEWAL,
    how: "the key is deleted",
    breakHold: ({ clients, resource }) => timed(() => clients.redis().del(resource)),
  },
  redlock: {
    ...RENEWAL,
    how: "the key is deleted on all five servers",
    breakHold: ({ clients, resource }) =>
      timed(() => Promise.all(clients.redlock().map((server) => server.del(resource)))),
  },
  memcached: {
    ...RENEWAL,
    how: "the item is replaced by one that is over",
    breakHold: ({ clients, resource }) =>
      timed(() => clients.memcached().set({ key: resource, value: randomUUID(), expirySeconds: -1 })),
  },
  etcd: {
    ...RENEWAL,
    how: "the lease is revoked",
    breakHold: async ({ clients, resource }) => {
      const [holder] = await probeEtcd(lockServers().etcd).queue(resource);
      return timed(() => clients.etcd().revokeLease(holder?.leaseId ?? 0n));
    },
  },
  zookeeper: {
    needsRelay: true,
    against: "session",
    // The link is given up after two thirds of the session without an answer, and a ping may have just been answered.
    share: 1,
    how: "the link swallows everything, until the server ends the session",
    breakHold: async ({ relayed }) => {
      for (const relay of relayed?.relays ?? []) relay.freeze();
      return systemClock.nowMs();
    },
  },
  postgres: {
    needsRelay: false,
    against: "connection",
    share: 0,
    how: "the backend is terminated",
    breakHold: async ({ holders }) => {
      await using watch = await openPgWatch();
      const { applicationName } = holders.postgres();
      const [pid = 0] = await watch.holders(applicationName);
      return await timed(() => watch.terminate(pid));
    },
  },
};
