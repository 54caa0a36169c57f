import type { Pool } from "pg";
import type { ServerId } from "../../servers/all-servers";
import type { LockDependencies } from "../locks/create-lock";
import { env } from "../services/current-env";
import { openPostgresPool } from "../services/postgres";
import { openLockClients } from "./lock-clients";
import type { RunRoutes } from "./run-assignment";

/** Clients of one run on one node. */
export interface ProxiedClients {
  readonly pool: Pool;
  readonly locks: LockDependencies;
  readonly close: () => Promise<void>;
}

/**
 * Opens clients whose connections go through the run's proxies, or to servers of the run. Lost connections are not logged: the run's fault
 * causes them, and the purchases record what they meant.
 */
export function openProxiedClients(routes: RunRoutes): ProxiedClients {
  const { DATABASE_URL, PG_POOL_SIZE } = env();
  const address = (id: ServerId, configured: string) => routedAddress(routes, id, configured);
  const url = address("postgres", DATABASE_URL);
  const onIdleLoss = () => {};
  const pool = openPostgresPool({ max: PG_POOL_SIZE, use: "proxied", url, onIdleLoss });
  const clients = openLockClients({
    pool: () => pool,
    openSessions: (max) => openPostgresPool({ max, use: "proxied lock sessions", url, onIdleLoss }),
    address,
    onOutage: () => {},
  });
  return {
    pool,
    locks: clients.dependencies,
    close: async () => {
      await clients.close();
      await pool.end();
    },
  };
}

/** Where the run's clients find a server: a server of the run, else the configured one, and the proxies before it. */
export function routedAddress({ ports, addresses }: RunRoutes, id: ServerId, configured: string): string {
  return throughProxies(addresses[id] ?? configured, ports[id]);
}

/** Scheme and credentials, then host and port. */
const AUTHORITY = /^(\s*(?:[a-z]+:\/\/)?(?:[^@/?]*@)?)[^/?]*/;

/** The address with the ports of proxies on this host in place of the servers, and all else as it was. */
export function throughProxies(address: string, ports: readonly number[] | undefined): string {
  if (ports === undefined) return address;
  const parts = address.split(",");
  return parts.map((part, index) => part.replace(AUTHORITY, `$1127.0.0.1:${ports[index]}`)).join(",");
}
