import { after, before } from "node:test";
import { createLock } from "../../lib/locks/create-lock";
import type { LockStrategy, ServerId } from "../../lib/locks/types";
import { type LockClients, openLockClients } from "./lock-clients";
import { type RelayedServers, relayService } from "./relayed-servers";
import type { TcpRelay } from "./tcp-relay";

/** One lock twice: on clients that reach its server, and on clients behind a relay that can be frozen and cut. */
export interface RelayedLock {
  readonly clients: LockClients;
  readonly lock: LockStrategy;
  readonly relayed: LockClients;
  readonly relayedLock: LockStrategy;
  readonly relay: TcpRelay;
}

/**
 * For a suite that calls it: opened before its tests and closed after them.
 * @returns what was opened, once the tests have begun
 */
export function useRelayedLock(id: string, service: Exclude<ServerId, "redlock">): () => RelayedLock {
  let opened: (RelayedLock & { readonly servers: RelayedServers }) | null = null;
  before(async () => {
    const servers = await relayService(service);
    const [relay] = servers.relays;
    if (!relay) throw new Error(`${service} has no server`);
    const clients = openLockClients();
    const relayed = openLockClients(servers.servers);
    const [lock, relayedLock] = [createLock(id, clients), createLock(id, relayed)];
    opened = { clients, lock, relayed, relayedLock, relay, servers };
  });
  after(async () => {
    if (!opened) return;
    const { lock, relayedLock, clients, relayed, servers } = opened;
    await Promise.all([lock, relayedLock].map((one) => one[Symbol.asyncDispose]()));
    await Promise.all([clients, relayed].map((one) => one[Symbol.asyncDispose]()));
    await servers[Symbol.asyncDispose]();
  });
  return () => {
    if (!opened) throw new Error("the tests have not begun");
    return opened;
  };
}
