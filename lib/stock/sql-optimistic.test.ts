import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SqlOptimistic } from "./sql-optimistic";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, sqlError } from "./testing/fake-postgres";
import { assertLockError, giveBackOf, orderValuesOf, purchaseOf } from "./testing/requests";

function setUp(random = 0) {
  const postgres = new FakePostgres();
  const strategy = new SqlOptimistic(new StockStore(postgres.pool, "node-1"), () => random);
  return { postgres, strategy };
}

describe("sql-optimistic", () => {
  it("writes on the version it read", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5, version: 17 }).reply("writeVersioned", { order_id: "42" });
    assert.deepEqual(await strategy.reduceStock(purchaseOf()), { status: "sold", orderId: "42" });
    assert.deepEqual(postgres.valuesOf("writeVersioned"), [7, 4, ...orderValuesOf("sql-optimistic"), 17]);
  });

  it("reads again after a conflict, and writes on the new version", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5, version: 1 }, { stock: 4, version: 2 }, { stock: 3, version: 3 });
    postgres.reply("writeVersioned", null, null, { order_id: "42" });
    const request = purchaseOf({ waitTimeoutMs: 5_000 });
    assert.equal((await strategy.reduceStock(request)).status, "sold");
    assert.deepEqual([request.trace.attempts, request.trace.writtenValue], [3, 2]);
    assert.equal(postgres.valuesOf("writeVersioned")?.at(-1), 3);
  });

  it("sells nothing and does not write when the stock is too low", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 1, version: 1 });
    assert.deepEqual(await strategy.reduceStock(purchaseOf({ quantity: 2 })), { status: "sold_out" });
    assert.deepEqual(postgres.namesSent(), ["read"]);
  });

  it("is contended when the next delay would exceed the wait timeout", async () => {
    const { postgres, strategy } = setUp(1);
    postgres.reply("read", { stock: 5, version: 1 }).reply("writeVersioned", null);
    const startedMs = performance.now();
    const outcome = await strategy.reduceStock(purchaseOf({ waitTimeoutMs: 8 }));
    assert.ok(outcome.status === "contended" && outcome.attempts === 1, JSON.stringify(outcome));
    assert.equal(postgres.namesSent().filter((name) => name === "writeVersioned").length, 1);
    assert.ok(performance.now() - startedMs < 1_000);
  });

  it("stops retrying when the caller aborts", async () => {
    const { postgres, strategy } = setUp();
    const caller = new AbortController();
    postgres.reply("read", { stock: 5, version: 1 }).reply("writeVersioned", null);
    postgres.onStatement = (name) => name === "writeVersioned" && caller.abort();
    const outcome = await strategy.reduceStock(purchaseOf({ waitTimeoutMs: 60_000, signal: caller.signal }));
    assert.ok(outcome.status === "contended" && outcome.attempts === 1, JSON.stringify(outcome));
  });

  it("does not retry after a lost reply, because the order may exist", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5, version: 1 }).reply("writeVersioned", lostReply());
    const work = strategy.reduceStock(purchaseOf({ waitTimeoutMs: 5_000 }));
    await assertLockError(work, "outcome_unknown", { isDefinite: false });
    assert.deepEqual(postgres.namesSent(), ["read", "writeVersioned"]);
  });

  it("records that a version miss wrote nothing", async () => {
    const { postgres, strategy } = setUp(1);
    postgres.reply("read", { stock: 5, version: 1 }).reply("writeVersioned", null);
    const request = purchaseOf();
    assert.equal((await strategy.reduceStock(request)).status, "contended");
    assert.deepEqual([request.trace.writeAccepted, request.trace.writtenValue], [false, undefined]);
  });

  it("leaves writeAccepted open when the reply to the write of a retry is lost", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5, version: 1 }).reply("writeVersioned", null, lostReply());
    const request = purchaseOf({ waitTimeoutMs: 5_000 });
    await assertLockError(strategy.reduceStock(request), "outcome_unknown", { isDefinite: false });
    assert.deepEqual([request.trace.attempts, request.trace.writeAccepted], [2, undefined]);
  });

  it("does not retry a rejected buyer", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5, version: 1 });
    postgres.reply("writeVersioned", sqlError("23514", "buyer_allowances_units_check"));
    const request = purchaseOf({ waitTimeoutMs: 5_000 });
    assert.deepEqual(await strategy.reduceStock(request), { status: "limit_reached" });
    assert.deepEqual([request.trace.attempts, request.trace.writeAccepted], [1, false]);
  });

  it("fails with config_invalid when the row does not exist", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", null);
    await assertLockError(strategy.reduceStock(purchaseOf()), "config_invalid", { isDefinite: true });
    await assertLockError(strategy.giveBack(giveBackOf()), "config_invalid", { isDefinite: true });
  });

  it("retries a give-back whose version was overtaken, and stops when no order is due", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5, version: 1 }, { stock: 6, version: 2 });
    postgres.reply("releaseVersioned", { due: 2, released: [] }, { due: 0, released: [] });
    const outcome = await strategy.giveBack(giveBackOf({ waitTimeoutMs: 5_000 }));
    assert.deepEqual(outcome, { status: "released", orders: [] });
    assert.deepEqual(postgres.valuesOf("releaseVersioned")?.slice(-2), [6, 2]);
  });
});
