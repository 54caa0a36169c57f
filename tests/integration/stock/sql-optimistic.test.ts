import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { lockDependencies } from "../../../lib/node/lock-dependencies";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { createStockStrategy } from "../../../lib/stock/stock-strategies";
import type { OperationTrace } from "../../../lib/stock/types";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "stock-test" });

describe("sql-optimistic", () => {
  after(() => postgresPool().end());

  it("is contended when its wait timeout ends before a write succeeds", async () => {
    const dependencies = { pool: postgresPool(), node: "stock-test", locks: lockDependencies() };
    await using strategy = createStockStrategy("sql-optimistic", dependencies);
    const target = { kind: "product" as const, id: await makeProduct(1_000) };
    let isOver = false;
    const writeRepeatedly = async () => {
      while (!isOver)
        await postgresPool().query("UPDATE products SET version = version + 1 WHERE id = $1", [target.id]);
    };
    const writer = writeRepeatedly();
    const trace: OperationTrace = { opId: `test-${process.pid}`, invokedNs: nowNs() };
    // Another write comes between each read and its write, also on a slow disk. The timeout allows a few attempts.
    const limits = { holdMs: 150, ttlMs: 5_000, waitTimeoutMs: 1_500 };
    const outcome = await strategy.reduceStock({ target, quantity: 1, buyerId: "slow", runId: null, ...limits, trace });
    isOver = true;
    await writer;
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, `expected several attempts, found ${trace.attempts}`);
    assert.deepEqual(await productFacts(target.id), { stock: 1_000, orders: 0 });
  });
});
