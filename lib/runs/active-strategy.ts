import { env } from "../services/current-env";
import { postgresPool } from "../services/postgres";
import { describeStrategy, storeNodes } from "./lab-description";
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
  await forgetFences();
  return { id, nodes: nodes.map((node) => node.address.name) };
}

/**
 * Each lock counts its fencing tokens in its own way: what one has left at a row would refuse every holder of the next. Whoever
 * still holds by the old one is refused as before, since a write needs the very token that its read has registered.
 */
async function forgetFences(): Promise<void> {
  for (const table of ["products", "coupons"]) {
    await postgresPool().query(`UPDATE ${table} SET fence = 0 WHERE fence <> 0 AND run_id IS NULL`);
  }
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
