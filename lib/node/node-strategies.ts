import type { StockStrategy } from "../stock/types";
import type { RunRoutes } from "./run-assignment";
import { RunClients } from "./run-clients";

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

  /** The clients of a run with this strategy. If the run has routes to servers, they are its own. */
  forRun(id: string, routes: RunRoutes | undefined): RunClients {
    const openProxied = (wanted: RunRoutes): ProxiedStrategy => {
      const proxied = this.options.createProxied?.(id, wanted);
      if (!proxied) throw new Error("this node has no separate clients for a run");
      return proxied;
    };
    return new RunClients({ direct: this.get(id), openProxied }, routes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.created.values()].map((strategy) => strategy[Symbol.asyncDispose]()));
    this.created.clear();
  }
}
