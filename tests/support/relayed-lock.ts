import { after, before } from "node:test";
import { createLock } from "../../lib/locks/create-lock";
import type { LockStrategy, ServerId } from "../../lib/locks/types";
import { type LockClients, openLockClients } from "./lock-clients";
import { type RelayedServers, relayService } from "./relayed-servers";
import type { TcpRelay } from "./tcp-relay";

/** One lock with two sets of clients: one connects directly, the other through a relay that can be frozen and cut. */
export interface RelayedLock {
  readonly clients: LockClients;
  readonly lock: LockStrategy;
  readonly relayed: LockClients;
  readonly relayedLock: LockStrategy;
  readonly relay: TcpRelay;
}

/**
 * Opens the lock before the tests of the calling suite and closes it after them.
 * @returns a function that returns the opened lock during a test
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
    await Promise.all([lock, relayedLock].map((strategy) => strategy[Symbol.asyncDispose]()));
    await Promise.all([clients, relayed].map((opened) => opened[Symbol.asyncDispose]()));
    await servers[Symbol.asyncDispose]();
  });
  return () => {
    if (!opened) throw new Error("call this function inside a test");
    return opened;
  };
}
