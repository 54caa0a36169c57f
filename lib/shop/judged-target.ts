import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { resourceOf, type StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

/**
 * Between the end of a run's load and its verdict its row is counted. A unit that the shop took meanwhile would be missing from the
 * stock without being in any order of the run: undersold, by a purchase that was perfectly right.
 * @throws {ShopError} `contended`, with Retry-After, until the run has ended
 */
export async function refuseWhileJudged(node: StoreNode, target: StockTarget): Promise<void> {
  const runId = node.unjudgedRun(target);
  if (runId === null) return;
  const statement = { name: "run_status", text: "SELECT status FROM runs WHERE id = $1::text", values: [runId] };
  const isRunning = await postgresPool()
    .query<{ status: string }>(statement)
    .then(
      ({ rows }) => rows[0]?.status === "running",
      (error: Error) => {
        console.warn(`whether run ${runId} has been judged is not known: ${error.message}`);
        return true;
      },
    );
  if (!isRunning) return node.noteJudged(target);
  throw new ShopError({
    code: "contended",
    message: `The run that sold ${resourceOf(target)} is being judged; nothing was taken.`,
    details: { runId },
    retryAfterSeconds: 1,
  });
}
