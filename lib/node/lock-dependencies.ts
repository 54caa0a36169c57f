import { serverKind } from "../../servers/all-servers";
import type { LockDependencies } from "../locks/create-lock";
import { log } from "../services/log";
import { openPostgresPool, postgresPool } from "../services/postgres";
import { processSingleton } from "../services/singleton";
import { type LockClients, openLockClients } from "./lock-clients";

/** Clients for the locks of this process. Each is created at first use; all strategies share them. */
export function lockDependencies(): LockDependencies {
  return clients().dependencies;
}

/** Closes every connection that the locks opened. */
export async function closeLockClients(): Promise<void> {
  await clients().close();
}

function clients(): LockClients {
  return processSingleton("lock-clients", () =>
    openLockClients({
      pool: postgresPool,
      openSessions: (max) => openPostgresPool({ max, use: "lock sessions" }),
      address: (_, configured) => configured,
      onOutage: (id, reason, port) =>
        log().warn({ server: id, port, reason }, `lost the connection to ${serverKind(id).label}, reconnecting`),
    }),
  );
}
