import { etcd } from "./etcd/server";
import { memcached } from "./memcached/server";
import { postgres } from "./postgres/server";
import { redis } from "./redis/server";
import { redlock } from "./redlock/server";
import type { Opening, ServerKind } from "./server-kind";
import { zookeeper } from "./zookeeper/server";

/** Every server kind, in the order of every list. */
export const servers = { postgres, redis, redlock, memcached, zookeeper, etcd } as const;

export type ServerId = keyof typeof servers;

export const serverKinds: readonly ServerKind[] = Object.values(servers);

/** @throws Error for an id that is no server kind */
export function serverKind(id: string): ServerKind {
  const kind = serverKinds.find((candidate) => candidate.id === id);
  if (kind) return kind;
  throw new Error(`"${id}" is no server kind; valid ids: ${serverKinds.map((known) => known.id).join(", ")}`);
}

/** Every kind except PostgreSQL, whose lock clients share the pools of the process. */
type LockServers = Omit<typeof servers, "postgres">;
type ClientsOf<Kind> = Kind extends { lockClients(opening: Opening): infer Clients } ? Clients : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The lock clients of every server kind, each opened at its first use. */
export function openLockServers(
  opening: (id: ServerId) => Opening,
): Intersection<ClientsOf<LockServers[keyof LockServers]>> {
  const { postgres: _, ...rest } = servers;
  const clients = Object.values(rest).map((kind) => kind.lockClients(opening(kind.id)));
  return Object.assign({}, ...clients);
}
