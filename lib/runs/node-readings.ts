import type { NodeRunStats } from "../node/purchase-meter";
import type { NodeClient } from "./node-client";

type Asked = Pick<NodeClient, "stats">;

/**
 * What the nodes say of one run, again and again. A node that is late is taken at its last word, so that one that stands
 * still does not take the others' figures with it; it is asked again once it has answered.
 */
export class NodeReadings {
  private readonly last = new Map<Asked, NodeRunStats>();
  private readonly pending = new Map<Asked, Promise<NodeRunStats>>();

  constructor(
    private readonly nodes: readonly Asked[],
    private readonly runId: string,
  ) {}

  /** One reading a node. @throws Error when a node fails, or is late and has never said anything */
  async readWithin(limitMs: number): Promise<NodeRunStats[]> {
    return Promise.all(this.nodes.map((node) => this.lastWordWithin(limitMs, node)));
  }

  /** However long it takes. @throws Error when a node fails */
  async read(): Promise<NodeRunStats[]> {
    return Promise.all(this.nodes.map((node) => node.stats(this.runId)));
  }

  private async lastWordWithin(limitMs: number, node: Asked): Promise<NodeRunStats> {
    const answer = this.pending.get(node) ?? this.ask(node);
    const known = this.last.get(node);
    if (!known) return answer;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<NodeRunStats>((resolve) => {
      timer = setTimeout(() => resolve(known), limitMs);
    });
    return Promise.race([answer, limit]).finally(() => clearTimeout(timer));
  }

  private ask(node: Asked): Promise<NodeRunStats> {
    const answer = node.stats(this.runId).finally(() => this.pending.delete(node));
    this.pending.set(node, answer);
    answer.then(
      (stats) => this.last.set(node, stats),
      // Told to whoever waits for it; nobody may be any more.
      () => {},
    );
    return answer;
  }
}
