import type { NodeClient } from "./node-client";

export interface NodeAnswer<T> {
  readonly node: string;
  readonly value: T;
}

export interface NodeAnswers<T> {
  readonly answers: readonly NodeAnswer<T>[];
  /** Nodes whose call failed. */
  readonly silent: readonly string[];
}

/** Calls all nodes at the same time. A call that fails makes its node silent. */
export async function callNodes<Node extends Pick<NodeClient, "address">, T>(
  nodes: readonly Node[],
  call: (node: Node) => Promise<T>,
): Promise<NodeAnswers<T>> {
  const results = await Promise.allSettled(nodes.map(call));
  const answers: NodeAnswer<T>[] = [];
  const silent: string[] = [];
  for (const [index, result] of results.entries()) {
    const node = nodes[index]?.address.name ?? `node ${index + 1}`;
    if (result.status === "fulfilled") answers.push({ node, value: result.value });
    else silent.push(node);
  }
  return { answers, silent };
}
