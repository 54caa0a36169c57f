import { once } from "node:events";
import { closeLockClients, lockDependencies } from "../../lib/node/lock-dependencies";
import { nowNs } from "../../lib/services/monotonic";
import { postgresPool } from "../../lib/services/postgres";
import { StockStore } from "../../lib/stock/stock-store";
import { createStockStrategy } from "../../lib/stock/stock-strategies";
import type { StockProcessMessage, StockProcessOrder } from "./stock-process";

/** The program of `StockProcess`: waits for "go", buys, sends the statuses. */
const order = JSON.parse(process.argv[2] ?? "") as StockProcessOrder;

function send(message: StockProcessMessage): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  if (order.stopBeforeOrder) {
    StockStore.prototype.run = () => {
      send({ type: "at the order" });
      return new Promise(() => {});
    };
  }
  const dependencies = { pool: postgresPool(), node: `process-${process.pid}`, locks: lockDependencies() };
  await using strategy = createStockStrategy(order.strategyId, dependencies);
  await postgresPool().query("SELECT 1");
  send({ type: "ready" });
  await once(process, "message");
  const limits = { holdMs: order.holdMs, ttlMs: 5_000, waitTimeoutMs: order.waitTimeoutMs };
  const outcomes = await Promise.all(
    order.buyerIds.map((buyerId, index) => {
      const trace = { opId: `p-${process.pid}-${index}`, invokedNs: nowNs() };
      return strategy.reduceStock({ target: order.target, quantity: 1, buyerId, runId: null, ...limits, trace });
    }),
  );
  send({ type: "done", statuses: outcomes.map(({ status }) => status) });
  await closeLockClients();
  await postgresPool().end();
}

main().then(
  () => process.disconnect(),
  (error: unknown) => {
    send({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.disconnect();
  },
);
