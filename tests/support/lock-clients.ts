import type { Redis } from "ioredis";
import { systemClock } from "../../lib/locks/clock";
import type { LockDependencies } from "../../lib/locks/create-lock";
import { systemRandom } from "../../lib/locks/random";
import type { LockIncident } from "../../lib/locks/runner-context";
import { openLockServers, type ServerId, serverKind, serverKinds } from "../../servers/all-servers";
import { type Opening, once } from "../../servers/server-kind";
import { requireEnv } from "./lab-env";
import { openTestPostgres, type TestPostgres, type TestPostgresOptions } from "./postgres-for-tests";

/** Addresses of a test's servers, by server kind. */
export type LockServers = Readonly<Record<ServerId, string>>;

/** The servers of the lock tests, from the environment. */
export function lockServers(): LockServers {
  requireEnv(...serverKinds.map(({ variable }) => variable));
  const addresses = serverKinds.map(({ id, variable }) => [id, process.env[variable] ?? ""]);
  return Object.fromEntries(addresses) as LockServers;
}

/** The address of one server kind, from the environment. */
export function addressOf(id: string): string {
  const { variable } = serverKind(id);
  requireEnv(variable);
  return process.env[variable] ?? "";
}

export interface LockClients extends LockDependencies, AsyncDisposable {
  postgres(): TestPostgres;
  redis(): Redis;
  redlock(): Redis[];
  readonly incidents: readonly LockIncident[];
}

export interface LockClientOptions {
  readonly postgres?: TestPostgresOptions;
  /** Timeout of ZooKeeper sessions. */
  readonly sessionTimeoutMs?: number;
}

/** Separate clients for a test. Each opens at first use; disposal closes all. */
export function openLockClients(servers: Partial<LockServers> = {}, options: LockClientOptions = {}): LockClients {
  const addresses = { ...lockServers(), ...servers };
  const closers: (() => unknown)[] = [];
  const incidents: LockIncident[] = [];
  const opening = (id: ServerId): Opening => ({
    address: () => addresses[id],
    onClose: (close) => closers.push(close),
    // The lock reports each failed command; the client's event adds nothing.
    onOutage: () => undefined,
    sessionTimeoutMs: options.sessionTimeoutMs ?? TEST_SESSION_TIMEOUT_MS,
  });
  const postgres = once(() => {
    const opened = openTestPostgres({ databaseUrl: addresses.postgres, ...options.postgres });
    closers.push(() => opened[Symbol.asyncDispose]());
    return opened;
  });
  return {
    clock: systemClock,
    random: systemRandom,
    onIncident: (incident) => incidents.push(incident),
    postgres,
    ...openLockServers(opening),
    incidents,
    async [Symbol.asyncDispose]() {
      await Promise.all(closers.map((close) => close()));
    },
  };
}

/** Short, so that sessions expire soon in tests. The tick of the test servers allows it. */
export const TEST_SESSION_TIMEOUT_MS = 2_000;
