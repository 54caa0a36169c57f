import { env } from "../services/current-env";
import { postgresPool } from "../services/postgres";
import { describeStrategy, storeNodes } from "./lab-description";
import { LabError } from "./lab-error";
import { NodeClient } from "./node-client";

/** The strategy of purchases outside runs, on all nodes. */

/** Switches every node. @throws LabError `unknown_strategy`, `strategy_unavailable`, `node_unavailable` */
export async function switchAllNodes(id: string): Promise<{ id: string; nodes: string[] }> {
  const { available, unavailableReason } = describeStrategy(id);
  if (!available)
    throw new LabError("strategy_unavailable", `id: the strategy ${id} is not available. ${unavailableReason}`, {
      field: "id",
    });
  const nodes = nodeClients();
  const answers = await Promise.allSettled(nodes.map((node) => node.switchStrategy(id)));
  const failed = answers.flatMap((answer) => (answer.status === "rejected" ? [(answer.reason as Error).message] : []));
  if (failed.length > 0) throw new LabError("node_unavailable", `Not every node switched: ${failed.join("; ")}`);
  await resetFences();
  return { id, nodes: nodes.map((node) => node.address.name) };
}

/**
 * Every lock numbers its fencing tokens differently, so the last token of the old lock could make a row reject every holder of the
 * new one. A holder of the old lock is still rejected, because a write needs the exact token that its read registered.
 */
async function resetFences(): Promise<void> {
  for (const table of ["products", "coupons"]) {
    await postgresPool().query(`UPDATE ${table} SET fence = 0 WHERE fence <> 0 AND run_id IS NULL`);
  }
}

/** The active strategy of every node (null: no answer), and the strategy of all nodes (null: they differ). */
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
