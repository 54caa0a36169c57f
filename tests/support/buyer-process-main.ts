import { once } from "node:events";
import { lockDependencies } from "../../lib/node/lock-dependencies";
import { nowNs } from "../../lib/services/monotonic";
import { createStockStrategy } from "../../lib/stock/stock-strategies";
import type { StockStrategy } from "../../lib/stock/types";
import type { Errand, ErrandMessage } from "./buyer-process";
import { openTestPostgres } from "./postgres-for-tests";

/** The other end of `BuyerProcess`: gets an errand, waits for "go", buys, tells what came of it, and so on. */

const LIMITS = { holdMs: 2, ttlMs: 5_000, waitTimeoutMs: 20_000 };
let operations = 0;

function say(message: ErrandMessage): void {
  process.send?.(message);
}

async function run(errand: Errand): Promise<void> {
  await using postgres = openTestPostgres({ ...errand.postgres, poolSize: 12 });
  const locks = { ...lockDependencies(), postgres: () => postgres };
  const dependencies = { pool: postgres.pool, node: `process-${process.pid}`, locks };
  await using strategy = createStockStrategy(errand.strategyId, dependencies);
  await postgres.pool.query("SELECT 1");
  const go = once(process, "message");
  say({ type: "ready" });
  await go;
  const outcomes = await Promise.all(errand.buyerIds.map((buyerId) => buy(strategy, errand, buyerId)));
  say({ type: "done", statuses: outcomes.map(({ status }) => status) });
}

function buy(strategy: StockStrategy, { target, quantity, holdMs = LIMITS.holdMs }: Errand, buyerId: string) {
  operations += 1;
  const trace = { opId: `p-${process.pid}-${operations}`, invokedNs: nowNs() };
  return strategy.reduceStock({ target, quantity, buyerId, runId: null, ...LIMITS, holdMs, trace });
}

async function main(): Promise<void> {
  for (;;) {
    const [errand] = (await once(process, "message")) as [Errand];
    await run(errand);
  }
}

main().catch((error: unknown) => {
  say({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.disconnect();
});
