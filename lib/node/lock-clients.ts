import type { Pool } from "pg";
import { openLockServers, type ServerId, serverKind } from "../../servers/all-servers";
import { type Opening, once } from "../../servers/server-kind";
import { systemClock } from "../locks/clock";
import type { LockDependencies } from "../locks/create-lock";
import { LockError } from "../locks/errors";
import { systemRandom } from "../locks/random";
import { env } from "../services/current-env";
import { metrics } from "../services/metrics";
import { missingService, serverAddress } from "../services/missing-service";
import { postgresForLocks } from "./postgres-for-locks";

/** Clients for locks, each created at its first use. */
export interface LockClients {
  readonly dependencies: LockDependencies;
  readonly close: () => Promise<void>;
}

export interface LockClientSettings {
  /** The pool that runs the purchases. */
  readonly pool: () => Pool;
  /** A separate pool of this size for locks that a session holds. */
  readonly openSessions: (max: number) => Pool;
  /** Where to reach a server, from its configured address. */
  readonly address: (id: ServerId, configured: string) => string;
  readonly onOutage: (id: ServerId, reason: string, port: number | undefined) => void;
}

export function openLockClients(settings: LockClientSettings): LockClients {
  const closers: (() => Promise<void>)[] = [];
  return {
    dependencies: {
      clock: systemClock,
      random: systemRandom,
      postgres: once(() => postgresForLocks(closers, settings)),
      ...openLockServers((id) => openingOf(id, closers, settings)),
      redisWaitReplicas: env().REDIS_WAIT_REPLICAS,
      onWatchEvent: ({ strategyId }) => metrics().watchEvents.add(strategyId),
    },
    close: async () => {
      await Promise.allSettled(closers.splice(0).map((close) => close()));
    },
  };
}

function openingOf(id: ServerId, closers: (() => Promise<void>)[], { address, onOutage }: LockClientSettings): Opening {
  return {
    address: () => address(id, configuredAddress(id)),
    onClose: (close) => closers.push(close),
    onOutage: (reason, { port }) => onOutage(id, reason, port),
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
