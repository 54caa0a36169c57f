import type { StoreNode } from "../node/store-node";
import { log } from "../services/log";
import { postgresPool } from "../services/postgres";
import { resourceOf, type StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

/**
 * Rejects a purchase of the shop between the end of a run's load and the run's verdict. The checker counts the row's stock
 * then: a unit sold by the shop would be missing from it without being in an order of the run, so the run would look undersold.
 * @throws {ShopError} `contended` with Retry-After, until the run has its verdict
 */
export async function rejectWhileAwaitingVerdict(node: StoreNode, target: StockTarget): Promise<void> {
  const runId = node.runAwaitingVerdict(target);
  if (runId === null) return;
  if (!(await isRunning(runId))) return node.forgetAwaitingVerdict(target);
  throw new ShopError({
    code: "contended",
    message: `The run that sold ${resourceOf(target)} awaits its verdict. No stock was reserved; retry.`,
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
