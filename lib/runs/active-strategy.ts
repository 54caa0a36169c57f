import { env } from "../services/current-env";
import { describeStrategy, storeNodes } from "./catalogue";
import { LabError } from "./lab-error";
import { NodeClient } from "./node-client";

/** The strategy of purchases outside of runs, over all nodes. */

/** Switches every node. @throws LabError `unknown_strategy`, `strategy_unavailable`, `node_unavailable` */
export async function switchAllNodes(id: string): Promise<{ id: string; nodes: string[] }> {
  const { available, unavailableReason } = describeStrategy(id);
  if (!available)
    throw new LabError("strategy_unavailable", `id: ${id} is not available. ${unavailableReason}`, { field: "id" });
  const nodes = nodeClients();
  const answers = await Promise.allSettled(nodes.map((node) => node.switchStrategy(id)));
  const failed = answers.flatMap((answer) => (answer.status === "rejected" ? [(answer.reason as Error).message] : []));
  if (failed.length > 0) throw new LabError("node_unavailable", `Not every node switched: ${failed.join("; ")}`);
  return { id, nodes: nodes.map((node) => node.address.name) };
}

/** The active strategy of every node (null: no answer), and the one they agree on (null: they do not). */
export async function activeStrategies(): Promise<{ id: string | null; nodes: Record<string, string | null> }> {
  const clients = nodeClients();
  const answers = await Promise.allSettled(clients.map((node) => node.activeStrategy()));
  const nodes: Record<string, string | null> = {};
  for (const [index, answer] of answers.entries()) {
    nodes[clients[index]?.address.name ?? String(index)] = answer.status === "fulfilled" ? answer.value : null;
  }
  const distinct = new Set(Object.values(nodes));
  const [only] = distinct;
  return { id: distinct.size === 1 ? (only ?? null) : null, nodes };
}

function nodeClients(): NodeClient[] {
  return storeNodes().map((address) => new NodeClient(address, env().LAB_ADMIN_TOKEN));
}
