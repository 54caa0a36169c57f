import type { ServiceId } from "../../lib/locks/types";
import { type LockServers, lockServers } from "./lock-clients";
import { startTcpRelay, type TcpRelay } from "./tcp-relay";

/** One service of the lab with a relay before each of its servers. */
export interface RelayedServers extends AsyncDisposable {
  /** Where the relays are. */
  readonly servers: Partial<LockServers>;
  readonly relays: readonly TcpRelay[];
}

interface Address {
  readonly host: string;
  readonly port: number;
}

export async function relayService(service: ServiceId): Promise<RelayedServers> {
  const { addresses, name } = plans[service](lockServers());
  const relays = await Promise.all(addresses.map(startTcpRelay));
  const close = async () => {
    await Promise.all(relays.map((relay) => relay.close()));
  };
  return { servers: name(relays.map(({ port }) => port)), relays, [Symbol.asyncDispose]: close };
}

interface Plan {
  readonly addresses: readonly Address[];
  /** The relays' ports in the service's own way of saying where it is. */
  readonly name: (ports: readonly number[]) => Partial<LockServers>;
}

const plans: Record<ServiceId, (servers: LockServers) => Plan> = {
  postgres: ({ databaseUrl }) => ({
    addresses: [addressOf(databaseUrl, 5_432)],
    name: ([port]) => {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return { databaseUrl: url.href };
    },
  }),
  redis: ({ redisUrl }) => ({
    addresses: [addressOf(redisUrl, 6_379)],
    name: ([port]) => ({ redisUrl: `redis://127.0.0.1:${port}` }),
  }),
  redlock: ({ redlockUrls }) => ({
    addresses: redlockUrls.map((url) => addressOf(url, 6_379)),
    name: (ports) => ({ redlockUrls: ports.map((port) => `redis://127.0.0.1:${port}`) }),
  }),
  memcached: ({ memcachedUrl }) => ({
    addresses: [addressOf(memcachedUrl, 11_211)],
    name: ([port]) => ({ memcachedUrl: `127.0.0.1:${port}` }),
  }),
  zookeeper: ({ zookeeperHosts }) => ({
    addresses: [addressOf(zookeeperHosts.split(",")[0] ?? "", 2_181)],
    name: ([port]) => ({ zookeeperHosts: `127.0.0.1:${port}` }),
  }),
  etcd: ({ etcdUrl }) => ({
    addresses: [addressOf(etcdUrl, 2_379)],
    name: ([port]) => ({ etcdUrl: `http://127.0.0.1:${port}` }),
  }),
};

/** Of a URL, or of a bare host and port. */
function addressOf(text: string, defaultPort: number): Address {
  const { hostname, port } = new URL(text.includes("://") ? text : `tcp://${text}`);
  return { host: hostname, port: Number(port || defaultPort) };
}
