import type { NodeRunStats } from "../node/purchase-meter";
import type { NodeClient } from "./node-client";

type StatsSource = Pick<NodeClient, "address" | "stats">;

/**
 * Polls the nodes for the figures of one run. For a node that answers late or fails it returns the last known figures, so that a
 * stopped or restarting node does not hold up the others. It polls a late node again after the late answer.
 */
export class NodeReadings {
  private readonly last = new Map<StatsSource, NodeRunStats>();
  private readonly pending = new Map<StatsSource, Promise<NodeRunStats>>();
  private readonly failing = new Set<StatsSource>();

  constructor(
    private readonly nodes: readonly StatsSource[],
    private readonly runId: string,
  ) {}

  /**
   * The figures of every node. Waits longer than the limit for a node without earlier figures.
   * @throws Error if a node without earlier figures fails
   */
  async readWithin(limitMs: number): Promise<NodeRunStats[]> {
    return Promise.all(this.nodes.map((node) => this.statsWithin(limitMs, node)));
  }

  /** Waits for every node. @throws Error if a node fails */
  async read(): Promise<NodeRunStats[]> {
    return Promise.all(this.nodes.map((node) => node.stats(this.runId)));
  }

  /** Names of the nodes that have not answered yet, or whose last poll failed. */
  get late(): ReadonlySet<string> {
    return new Set([...this.pending.keys(), ...this.failing].map(({ address }) => address.name));
  }

  private async statsWithin(limitMs: number, node: StatsSource): Promise<NodeRunStats> {
    const answer = this.pending.get(node) ?? this.poll(node);
    const known = this.last.get(node);
    if (!known) return answer;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<NodeRunStats>((resolve) => {
      timer = setTimeout(() => resolve(known), limitMs);
    });
    const answerOrKnown = answer.catch(() => known);
    return Promise.race([answerOrKnown, limit]).finally(() => clearTimeout(timer));
  }

  private poll(node: StatsSource): Promise<NodeRunStats> {
    const answer = node.stats(this.runId).finally(() => this.pending.delete(node));
    this.pending.set(node, answer);
    answer.then(
      (stats) => {
        this.last.set(node, stats);
        this.failing.delete(node);
      },
      // Callers that still wait get the rejection. Without callers it must not become an unhandled rejection.
      () => void this.failing.add(node),
    );
    return answer;
  }
}
