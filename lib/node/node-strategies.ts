import type { StockStrategy } from "../stock/types";
import type { RunRoutes } from "./run-assignment";
import type { ActiveRun } from "./run-registry";

export interface NodeStrategiesOptions {
  readonly activeStrategy: string;
  /** Creates a strategy. @throws LockError if its server is not configured */
  readonly createStrategy: (id: string) => StockStrategy;
  /** Creates a strategy with separate clients, for a run whose network has a fault. Absent: the node serves no such run. */
  readonly createProxied?: (id: string, routes: RunRoutes) => ProxiedStrategy;
}

/** A strategy for one run. */
export interface ProxiedStrategy {
  readonly strategy: StockStrategy;
  /** Disposes of the strategy and closes its clients. */
  readonly close: () => Promise<void>;
}

/** The strategies of one node: each is created at first use and kept until the process ends. */
export class NodeStrategies implements AsyncDisposable {
  private readonly created = new Map<string, StockStrategy>();
  private id: string;

  constructor(private readonly options: NodeStrategiesOptions) {
    this.id = options.activeStrategy;
  }

  /** ID of the strategy of the shop. */
  get activeId(): string {
    return this.id;
  }

  get active(): StockStrategy {
    return this.get(this.id);
  }

  /** @throws Error if the strategy is unknown or its server is not configured; the active strategy then stays the same */
  activate(id: string): void {
    this.get(id);
    this.id = id;
  }

  get(id: string): StockStrategy {
    const known = this.created.get(id);
    if (known) return known;
    const created = this.options.createStrategy(id);
    this.created.set(id, created);
    return created;
  }

  /** The strategy of a run. If the run has routes to servers, the strategy is its own, with clients that use them. */
  forRun(id: string, routes: RunRoutes | undefined): Pick<ActiveRun, "strategy" | "closeClients"> {
    const strategy = this.get(id);
    const proxied = routes && this.options.createProxied?.(id, routes);
    return proxied ? { strategy: proxied.strategy, closeClients: proxied.close } : { strategy, closeClients: null };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.created.values()].map((strategy) => strategy[Symbol.asyncDispose]()));
    this.created.clear();
  }
}
