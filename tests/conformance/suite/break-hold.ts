import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { systemClock } from "../../../lib/locks/clock";
import type { ServerId } from "../../../servers/all-servers";
import { probeEtcd } from "../../support/etcd-probe";
import { type LockClients, lockServers } from "../../support/lock-clients";
import { openPgWatch } from "../../support/pg-watch";
import type { RelayedServers } from "../../support/relayed-servers";
import { waitUntil } from "../../support/wait-until";

/** A way to end a hold on its real server. */
export interface HoldBreaker {
  /** Description for the report. */
  readonly how: string;
  /** The holder connects through a relay. */
  readonly needsRelay: boolean;
  /** What the time until the signal is compared with. */
  readonly against: "lease" | "session" | "connection";
  /** Maximum share of that by design, without delays. */
  readonly share: number;
  /** Resolves when the hold has ended. @returns when the command was sent, on the monotonic clock */
  breakHold(held: BrokenHold): Promise<number>;
}

export interface BrokenHold {
  readonly resource: string;
  /** The clients of the holder. */
  readonly holders: LockClients;
  /** The clients of another process. */
  readonly clients: LockClients;
  readonly relayed: RelayedServers | null;
}

/** Connects before any measurement. */
async function connected(servers: readonly Redis[]): Promise<readonly Redis[]> {
  const answer = async () => {
    const pings = await Promise.allSettled(servers.map((server) => server.ping()));
    return pings.every(({ status }) => status === "fulfilled");
  };
  await waitUntil(answer, { what: "the connections that break the hold" });
  return servers;
}

/** @returns the start time */
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

/** The watchdog renews at a third of the lease and gets the answer that the hold is lost. */
const RENEWAL = { needsRelay: false, against: "lease", share: 1 / 3 } as const;

const holdBreakers: Record<ServerId, HoldBreaker> = {
  redis: {
    ...RENEWAL,
    how: "the key is deleted",
    breakHold: async ({ clients, resource }) => {
      await connected([clients.redis()]);
      return timed(() => clients.redis().del(resource));
    },
  },
  redlock: {
    ...RENEWAL,
    how: "the key is deleted on all five servers",
    breakHold: async ({ clients, resource }) => {
      const servers = await connected(clients.redlock());
      return timed(() => Promise.all(servers.map((server) => server.del(resource))));
    },
  },
  memcached: {
    ...RENEWAL,
    how: "the item is replaced by an expired one",
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
    // The client drops the connection after two thirds of the session without an answer, and a ping may just have been
    // answered.
    share: 1,
    how: "the connection stops carrying data until the server ends the session",
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
