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

  it("answers contended when its time is over before its version holds", async () => {
    const dependencies = { pool: postgresPool(), node: "stock-test", locks: lockDependencies() };
    await using strategy = createStockStrategy("sql-optimistic", dependencies);
    const target = { kind: "product" as const, id: await makeProduct(1_000) };
    let over = false;
    const spoil = async () => {
      while (!over) await postgresPool().query("UPDATE products SET version = version + 1 WHERE id = $1", [target.id]);
    };
    const spoiler = spoil();
    const trace: OperationTrace = { opId: `test-${process.pid}`, invokedNs: nowNs() };
    // Somebody else's write, on a slow disk too, comes between every read and its write; time for a few tries.
    const limits = { holdMs: 150, ttlMs: 5_000, waitTimeoutMs: 1_500 };
    const outcome = await strategy.reduceStock({ target, quantity: 1, buyerId: "slow", runId: null, ...limits, trace });
    over = true;
    await spoiler;
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, "it tried once only");
    assert.deepEqual(await productFacts(target.id), { stock: 1_000, orders: 0 });
  });
});
