import { once } from "node:events";
import { lockDependencies } from "../../lib/node/lock-dependencies";
import { nowNs } from "../../lib/services/monotonic";
import { createStockStrategy } from "../../lib/stock/stock-strategies";
import type { StockStrategy } from "../../lib/stock/types";
import type { BuyerTask, BuyerTaskMessage } from "./buyer-process";
import { openTestPostgres } from "./postgres-for-tests";

/** The program of `BuyerProcess`. It repeats: receive a task, wait for "go", buy, send the statuses. */
const LIMITS = { holdMs: 2, ttlMs: 5_000, waitTimeoutMs: 20_000 };
let operations = 0;

function send(message: BuyerTaskMessage): void {
  process.send?.(message);
}

async function run(task: BuyerTask): Promise<void> {
  await using postgres = openTestPostgres({ ...task.postgres, poolSize: 12 });
  const locks = { ...lockDependencies(), postgres: () => postgres };
  const dependencies = { pool: postgres.pool, node: `process-${process.pid}`, locks };
  await using strategy = createStockStrategy(task.strategyId, dependencies);
  await postgres.pool.query("SELECT 1");
  const go = once(process, "message");
  send({ type: "ready" });
  await go;
  const outcomes = await Promise.all(task.buyerIds.map((buyerId) => buy(strategy, task, buyerId)));
  send({ type: "done", statuses: outcomes.map(({ status }) => status) });
}

function buy(strategy: StockStrategy, { target, quantity, holdMs = LIMITS.holdMs }: BuyerTask, buyerId: string) {
  operations += 1;
  const trace = { opId: `p-${process.pid}-${operations}`, invokedNs: nowNs() };
  return strategy.reduceStock({ target, quantity, buyerId, runId: null, ...LIMITS, holdMs, trace });
}

async function main(): Promise<void> {
  for (;;) {
    const [task] = (await once(process, "message")) as [BuyerTask];
    await run(task);
  }
}

main().catch((error: unknown) => {
  send({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.disconnect();
});
