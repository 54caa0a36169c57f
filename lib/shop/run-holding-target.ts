import type { StoreNode } from "../node/store-node";
import { log } from "../services/log";
import { postgresPool } from "../services/postgres";
import { resourceOf, type StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

/**
 * ID of the run that keeps the shop from changing the target's stock: its stock is being prepared, or counted for the verdict. A unit
 * that the shop sold or gave back then would make the run look unsafe. Null if there is none. Frees the target of a run that has ended.
 */
export async function runHolding(node: StoreNode, target: StockTarget): Promise<string | null> {
  const runId = node.runHolding(target);
  if (runId === null || (await isRunning(runId))) return runId;
  node.close(runId);
  node.forget(runId);
  return null;
}

/** @throws {ShopError} `contended` with Retry-After while a run holds the target */
export async function rejectWhileHeld(node: StoreNode, target: StockTarget): Promise<void> {
  const runId = await runHolding(node, target);
  if (runId === null) return;
  throw new ShopError({
    code: "contended",
    message: `The stock of ${resourceOf(target)} is being prepared for a run, or counted after it. No stock was reserved; retry.`,
    details: { runId },
    retryAfterSeconds: 1,
  });
}

/** True also if PostgreSQL does not answer: then the purchase would fail anyway. */
async function isRunning(runId: string): Promise<boolean> {
  const statement = { name: "run_status", text: "SELECT status FROM runs WHERE id = $1::text", values: [runId] };
  try {
    const { rows } = await postgresPool().query<{ status: string }>(statement);
    return rows[0]?.status === "running";
  } catch (error) {
    const facts = { runId, reason: (error as Error).message };
    log().warn(facts, "could not read the run's status, so its target stays closed to the shop");
    return true;
  }
}
