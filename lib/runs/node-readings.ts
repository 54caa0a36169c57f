import type { NodeRunStats } from "../node/purchase-meter";
import type { NodeClient } from "./node-client";

type StatsSource = Pick<NodeClient, "address" | "stats">;

/**
 * Polls the nodes for the figures of one run. For a node that answers late it returns the last known figures, so that a stopped node
 * does not hold up the others. It polls that node again after the late answer.
 */
export class NodeReadings {
  private readonly last = new Map<StatsSource, NodeRunStats>();
  private readonly pending = new Map<StatsSource, Promise<NodeRunStats>>();

  constructor(
    private readonly nodes: readonly StatsSource[],
    private readonly runId: string,
  ) {}

  /** The figures of every node. Waits longer than the limit for a node without earlier figures. @throws Error if a node fails */
  async readWithin(limitMs: number): Promise<NodeRunStats[]> {
    return Promise.all(this.nodes.map((node) => this.statsWithin(limitMs, node)));
  }

  /** Waits for every node. @throws Error if a node fails */
  async read(): Promise<NodeRunStats[]> {
    return Promise.all(this.nodes.map((node) => node.stats(this.runId)));
  }

  /** Names of the nodes that have not answered yet. */
  get late(): ReadonlySet<string> {
    return new Set([...this.pending.keys()].map(({ address }) => address.name));
  }

  private async statsWithin(limitMs: number, node: StatsSource): Promise<NodeRunStats> {
    const answer = this.pending.get(node) ?? this.poll(node);
    const known = this.last.get(node);
    if (!known) return answer;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<NodeRunStats>((resolve) => {
      timer = setTimeout(() => resolve(known), limitMs);
    });
    return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
  }

  private poll(node: StatsSource): Promise<NodeRunStats> {
    const answer = node.stats(this.runId).finally(() => this.pending.delete(node));
    this.pending.set(node, answer);
    answer.then(
      (stats) => this.last.set(node, stats),
      // Callers that still wait get the rejection. Without callers it must not become an unhandled rejection.
      () => {},
    );
    return answer;
  }
}
