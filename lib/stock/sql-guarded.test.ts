import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SqlDecrement } from "./sql-decrement";
import { SqlGuarded } from "./sql-guarded";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, sqlError } from "./testing/fake-postgres";
import { assertLockError, COUPON, giveBackOf, orderValuesOf, purchaseOf } from "./testing/requests";

function setUp() {
  const postgres = new FakePostgres();
  const store = new StockStore(postgres.pool, "node-1");
  return { postgres, guarded: new SqlGuarded(store), decrement: new SqlDecrement(store) };
}

describe("sql-guarded", () => {
  it("sells with one statement, and derives the value read from the value written", async () => {
    const { postgres, guarded } = setUp();
    postgres.reply("takeGuarded", { order_id: "42", stock: 3 });
    const request = purchaseOf({ quantity: 2 });
    assert.deepEqual(await guarded.reduceStock(request), { status: "sold", orderId: "42" });
    assert.deepEqual([request.trace.readValue, request.trace.writtenValue], [5, 3]);
    assert.equal(postgres.sent.length, 1);
  });

  it("is sold out when the statement changes no row", async () => {
    const { postgres, guarded } = setUp();
    postgres.reply("takeGuarded", null);
    const request = purchaseOf();
    assert.deepEqual(await guarded.reduceStock(request), { status: "sold_out" });
    assert.deepEqual([request.trace.writeAccepted, request.trace.committedNs], [false, undefined]);
  });

  it("reports the rejection of a second coupon", async () => {
    const { postgres, guarded } = setUp();
    postgres.reply("takeGuarded", sqlError("23505", "coupon_claims_coupon_id_user_id_key"));
    assert.deepEqual(await guarded.reduceStock(purchaseOf({ target: COUPON })), { status: "already_claimed" });
  });

  it("reports an unknown outcome when the reply is lost", async () => {
    const { postgres, guarded } = setUp();
    postgres.reply("takeGuarded", lostReply());
    const request = purchaseOf();
    await assertLockError(guarded.reduceStock(request), "outcome_unknown", { isDefinite: false });
    assert.equal(request.trace.writeAccepted, undefined);
  });

  it("records that a refused statement wrote nothing", async () => {
    const { postgres, guarded, decrement } = setUp();
    postgres.reply("takeGuarded", sqlError("22021"));
    postgres.reply("read", { stock: 1 }).reply("takeUnguarded", sqlError("22021"));
    for (const strategy of [guarded, decrement]) {
      const request = purchaseOf();
      await assertLockError(strategy.reduceStock(request), "backend_unavailable", { isDefinite: true });
      assert.equal(request.trace.writeAccepted, false, strategy.id);
    }
  });

  it("gives units back by adding to the stock", async () => {
    const { postgres, guarded } = setUp();
    const released = [{ orderId: "12", buyerId: "buyer-2", quantity: 2 }];
    postgres.reply("releaseRelative", { due: 1, released });
    assert.deepEqual(await guarded.giveBack(giveBackOf()), { status: "released", orders: released });
    assert.deepEqual(postgres.valuesOf("releaseRelative"), [7, ["11", "12"], "expired", null, null, "end-1"]);
  });
});

describe("sql-decrement", () => {
  it("decrements without a condition, so that a stock below zero shows", async () => {
    const { postgres, decrement } = setUp();
    postgres.reply("read", { stock: 1 }).reply("takeUnguarded", { order_id: "42", stock: -1 });
    const request = purchaseOf();
    assert.deepEqual(await decrement.reduceStock(request), { status: "sold", orderId: "42" });
    assert.deepEqual([request.trace.readValue, request.trace.writtenValue], [1, -1]);
    assert.deepEqual(postgres.valuesOf("takeUnguarded"), [7, ...orderValuesOf("sql-decrement")]);
  });

  it("is sold out by its check alone", async () => {
    const { postgres, decrement } = setUp();
    postgres.reply("read", { stock: 0 });
    assert.deepEqual(await decrement.reduceStock(purchaseOf()), { status: "sold_out" });
    assert.deepEqual(postgres.namesSent(), ["read"]);
  });

  it("fails with config_invalid when the row does not exist", async () => {
    const { postgres, decrement } = setUp();
    postgres.reply("read", null);
    await assertLockError(decrement.reduceStock(purchaseOf()), "config_invalid", { isDefinite: true });
  });
});
