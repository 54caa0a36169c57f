import { openLockServers, type ServerId, serverKind } from "../../servers/all-servers";
import { type Opening, once } from "../../servers/server-kind";
import { systemClock } from "../locks/clock";
import type { LockDependencies } from "../locks/create-lock";
import { LockError } from "../locks/errors";
import { systemRandom } from "../locks/random";
import { log } from "../services/log";
import { metrics } from "../services/metrics";
import { missingService, serverAddress } from "../services/missing-service";
import { processSingleton } from "../services/singleton";
import { postgresForLocks } from "./postgres-for-locks";

interface Clients {
  readonly dependencies: LockDependencies;
  readonly close: () => Promise<void>;
}

/** Clients for the locks of this process. Each is created at first use; all strategies share them. */
export function lockDependencies(): LockDependencies {
  return clients().dependencies;
}

/** Closes every connection that the locks opened. */
export async function closeLockClients(): Promise<void> {
  await clients().close();
}

function clients(): Clients {
  return processSingleton("lock-clients", createClients);
}

function createClients(): Clients {
  const closers: (() => Promise<void>)[] = [];
  return {
    dependencies: {
      clock: systemClock,
      random: systemRandom,
      postgres: once(() => postgresForLocks(closers)),
      ...openLockServers((id) => openingOf(id, closers)),
      onWatchEvent: ({ strategyId }) => metrics().watchEvents.add(strategyId),
    },
    close: async () => {
      await Promise.allSettled(closers.splice(0).map((close) => close()));
    },
  };
}

function openingOf(id: ServerId, closers: (() => Promise<void>)[]): Opening {
  return {
    address: () => configuredAddress(id),
    onClose: (close) => closers.push(close),
    onOutage: (reason, { port }) =>
      log().warn({ server: id, port, reason }, `lost the connection to ${serverKind(id).label}, reconnecting`),
    sessionTimeoutMs: undefined,
  };
}

/** @throws LockError `config_invalid` that says how to make the server available */
function configuredAddress(id: ServerId): string {
  const missing = missingService(id);
  const address = serverAddress(id);
  if (missing === null && address !== undefined) return address;
  throw new LockError({
    code: "config_invalid",
    strategyId: id,
    resource: "-",
    message: missing ?? `${serverKind(id).label} is not configured`,
    isDefinite: true,
  });
}
