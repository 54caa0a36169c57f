import type { StockStrategy } from "../stock/types";
import type { ProxiedStrategy } from "./node-strategies";
import type { RunRoutes } from "./run-assignment";

export interface RunClientsOptions {
  /** The strategy with the clients of the process. */
  readonly direct: StockStrategy;
  /** @throws Error if the strategy's server is not configured, or the node has no separate clients */
  readonly openProxied: (routes: RunRoutes) => ProxiedStrategy;
}

/**
 * The clients through which one node serves one run. New purchases use the newest routes, and purchases in progress end with the
 * clients that they began with. They exclude each other: a lock is a key, a session or a row on the same server, with an owner of
 * its own for each purchase, and a lock in memory shares its queues.
 */
export class RunClients {
  /** By their routes. Purchases may still use each of them, so all stay open until the run is forgotten. */
  private readonly proxied = new Map<string, ProxiedStrategy>();
  private current: StockStrategy;

  constructor(
    private readonly options: RunClientsOptions,
    routes: RunRoutes | undefined,
  ) {
    this.current = this.strategyFor(routes);
  }

  /** For the next purchase. */
  get strategy(): StockStrategy {
    return this.current;
  }

  /** Idempotent. @throws Error as `openProxied`; the routes then stay the same */
  use(routes: RunRoutes | undefined): void {
    this.current = this.strategyFor(routes);
  }

  async close(): Promise<void> {
    const open = [...this.proxied.values()];
    this.proxied.clear();
    await Promise.all(open.map(({ close }) => close()));
  }

  private strategyFor(routes: RunRoutes | undefined): StockStrategy {
    if (routes === undefined) return this.options.direct;
    const key = JSON.stringify(routes);
    const proxied = this.proxied.get(key) ?? this.options.openProxied(routes);
    this.proxied.set(key, proxied);
    return proxied.strategy;
  }
}
