import { join } from "node:path";
import type { LocalQueues } from "../locks/baseline/local-mutex";
import { env } from "../services/current-env";
import { gauge } from "../services/metrics";
import { postgresPool } from "../services/postgres";
import { processSingleton } from "../services/singleton";
import { createStockStrategy, type StockDependencies } from "../stock/stock-strategies";
import { lockDependencies } from "./lock-dependencies";
import { NodeStops } from "./node-stops";
import { openProxiedClients } from "./proxied-clients";
import { Spool } from "./spool";
import { StoreNode } from "./store-node";

/** The store node of this process. */
export function currentNode(): StoreNode {
  return processSingleton("store-node", () => {
    const { STORE_NODE, LOCK_STRATEGY, SPOOL_DIR, HOLD_MS, LOCK_TTL_MS, WAIT_TIMEOUT_MS } = env();
    const stops = new NodeStops();
    // A run that moves to proxies in mid-sale must not get a second mutex.
    const localQueues: LocalQueues = new Map();
    const create = (id: string, { pool, locks }: Pick<StockDependencies, "pool" | "locks">) =>
      createStockStrategy(id, {
        pool,
        node: STORE_NODE,
        locks: { ...locks, localQueues, beforeExpiry: stops.beforeExpiry, renewsLease: stops.renewsLease },
        failpoints: stops,
      });
    const node = new StoreNode({
      name: STORE_NODE,
      activeStrategy: LOCK_STRATEGY,
      createStrategy: (id) => create(id, { pool: postgresPool(), locks: lockDependencies() }),
      createProxied: (id, routes) => {
        const { close, ...clients } = openProxiedClients(routes);
        const strategy = create(id, clients);
        return {
          strategy,
          close: async () => {
            await strategy[Symbol.asyncDispose]();
            await close();
          },
        };
      },
      stops,
      spool: SPOOL_DIR === undefined ? undefined : new Spool(join(SPOOL_DIR, STORE_NODE)),
      defaults: { holdMs: HOLD_MS, ttlMs: LOCK_TTL_MS, waitTimeoutMs: WAIT_TIMEOUT_MS },
    });
    gauge({
      name: "flash_sale_waiters",
      help: "Purchases that are waiting for their lock.",
      read: () => node.countWaiters(),
    });
    return node;
  });
}

/** False in the dashboard of a lab that has store nodes: it forwards purchases to them. */
export function servesSales(): boolean {
  const { STORE_NODE, STORE_NODES } = env();
  return STORE_NODES.length === 0 || STORE_NODES.some(({ name }) => name === STORE_NODE);
}
