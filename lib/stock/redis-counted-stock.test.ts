import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CounterQueries } from "./counter-queries";
import { createRedisDecrement } from "./redis-decrement";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, sqlError } from "./testing/fake-postgres";
import { FakeRedis } from "./testing/fake-redis";
import { assertLockError, COUPON, giveBackOf, PRODUCT, purchaseOf } from "./testing/requests";

// A journal entry that stays behind is logged as a warning.
process.env.LOG_LEVEL = "silent";

function setUp(counter: number | null = 5) {
  const events: string[] = [];
  const postgres = new FakePostgres(events);
  const redis = new FakeRedis(counter, events);
  const strategy = createRedisDecrement({
    store: new StockStore(postgres.pool, "node-1"),
    queries: new CounterQueries(postgres.pool, "redis-decrement"),
    redis,
  });
  return { events, postgres, redis, strategy };
}

const unreachable = { error: new Error("Connection is closed."), isExecuted: false };

describe("a purchase that is counted in Redis", () => {
  it("takes the unit, writes the order, and then removes the journal entry", async () => {
    const { events, postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", { order_id: "42", stock: 4 });
    postgres.onStatement = () => assert.deepEqual([...redis.journal.keys()], ["op-1"], "expected the entry first");
    const request = purchaseOf();
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold", orderId: "42" });
    assert.deepEqual(events, ["redis take", "postgres takeGuarded", "redis HDEL"]);
    assert.deepEqual([redis.counter, redis.journal.size], [4, 0]);
    assert.deepEqual([request.trace.readValue, request.trace.writtenValue], [5, 4]);
  });

  it("is sold out by the counter alone, without a statement", async () => {
    const { events, strategy } = setUp(1);
    const request = purchaseOf({ quantity: 2 });
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold_out" });
    assert.deepEqual(events, ["redis take"]);
    assert.deepEqual([request.trace.readValue, request.trace.writeAccepted], [1, false]);
  });

  it("keeps the unit and the entry when the reply to the order is lost", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", lostReply());
    const request = purchaseOf();
    await assertLockError(strategy.reduceStock(request), "outcome_unknown", { isDefinite: false });
    assert.deepEqual([redis.counter, [...redis.journal.keys()]], [4, ["op-1"]]);
    assert.equal(request.trace.writeAccepted, undefined);
  });

  it("gives the unit back when PostgreSQL refuses the order", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", sqlError("22021"));
    await assertLockError(strategy.reduceStock(purchaseOf()), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([redis.counter, redis.journal.size], [5, 0]);
  });

  it("gives the unit back when the row has fewer units than the counter", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", null);
    const request = purchaseOf();
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold_out" });
    assert.deepEqual([redis.counter, redis.journal.size, request.trace.writeAccepted], [5, 0, false]);
  });

  it("gives the unit of a second coupon back and keeps the buyer, so that a third try stops at the counter", async () => {
    const { events, postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", sqlError("23505", "coupon_claims_coupon_id_user_id_key"));
    assert.deepEqual(await strategy.reduceStock(purchaseOf({ target: COUPON })), { status: "already_claimed" });
    assert.deepEqual([redis.counter, redis.buyers.get("buyer-1")], [5, 1]);
    events.length = 0;
    assert.deepEqual(await strategy.reduceStock(purchaseOf({ target: COUPON })), { status: "already_claimed" });
    assert.deepEqual(events, ["redis take"]);
  });

  it("stores the buyer's units from PostgreSQL when its limit rejects the order", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", sqlError("23514", "buyer_allowances_units_check"));
    postgres.reply("bought", { buyer: "buyer-1", units: 3 });
    const request = purchaseOf({ limitPerBuyer: 3 });
    assert.deepEqual(await strategy.reduceStock(request), { status: "limit_reached" });
    assert.deepEqual([redis.counter, redis.buyers.get("buyer-1")], [5, 3]);
    assert.deepEqual(postgres.valuesOf("bought"), [7, "buyer-1"]);
  });

  it("stays sold when the journal entry cannot be removed", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("takeGuarded", { order_id: "42", stock: 4 });
    redis.failures.set("HDEL", unreachable);
    assert.equal((await strategy.reduceStock(purchaseOf())).status, "sold");
    assert.deepEqual([...redis.journal.keys()], ["op-1"]);
  });

  it("sends no order when the reply to the take is lost, and leaves the unit to reconcile", async () => {
    const { postgres, redis, strategy } = setUp();
    redis.failures.set("take", { ...unreachable, isExecuted: true });
    await assertLockError(strategy.reduceStock(purchaseOf()), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([redis.counter, [...redis.journal.keys()], postgres.sent.length], [4, ["op-1"], 0]);
  });

  it("sends no order when Redis fails", async () => {
    const { postgres, redis, strategy } = setUp();
    redis.failures.set("take", unreachable);
    await assertLockError(strategy.reduceStock(purchaseOf()), "backend_unavailable", { isDefinite: true });
    assert.equal(postgres.sent.length, 0);
  });

  it("initializes a missing counter from the row and the buyers, minus the units in the journal", async () => {
    const { events, postgres, redis, strategy } = setUp(null);
    redis.journal.set("op-0", "2:1:someone");
    postgres.reply("stock", { stock: 5 }).reply("buyers", [{ buyer: "buyer-1", units: 1 }]);
    const request = purchaseOf({ limitPerBuyer: 1 });
    assert.deepEqual(await strategy.reduceStock(request), { status: "limit_reached" });
    assert.equal(redis.counter, 3);
    const expected = [
      "redis take",
      "postgres stock",
      "postgres buyers",
      "redis HSET",
      "redis initialize",
      "redis take",
    ];
    assert.deepEqual(events, expected, "expected the buyers before the counter, so that none exceeds the limit");
  });

  it("gives up after the counter was lost four times", async () => {
    const { events, postgres, redis, strategy } = setUp(null);
    postgres.reply("stock", { stock: 5 }).reply("buyers", null);
    postgres.onStatement = () => {
      redis.counter = null;
    };
    const initialize = redis.call.bind(redis);
    redis.call = async (...parameters) => {
      const reply = await initialize(...parameters);
      if (events.at(-1) === "redis initialize") redis.counter = null;
      return reply;
    };
    await assertLockError(strategy.reduceStock(purchaseOf()), "backend_unavailable", { isDefinite: true });
    assert.equal(events.filter((event) => event === "redis take").length, 4);
  });
});

describe("a give-back that is counted in Redis", () => {
  const released = [{ orderId: "12", buyerId: "buyer-2", quantity: 2 }];

  it("announces the units, ends the orders in PostgreSQL, and only then returns units to the counter", async () => {
    const { events, postgres, redis, strategy } = setUp();
    redis.buyers.set("buyer-2", 2);
    postgres.reply("releaseRelative", { due: 1, released });
    postgres.onStatement = () => {
      assert.deepEqual([...redis.journal.keys()], ["return:11:end-1", "return:12:end-1"]);
      assert.equal(redis.counter, 5, "expected no unit on the counter before the orders have ended");
    };
    assert.deepEqual(await strategy.giveBack(giveBackOf()), { status: "released", orders: released });
    assert.deepEqual(events, ["redis announce", "postgres releaseRelative", "redis HDEL", "redis giveBack"]);
    assert.deepEqual([redis.counter, redis.journal.size, redis.buyers.size], [7, 0, 0]);
  });

  it("removes the announcements when PostgreSQL ended no order", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("releaseRelative", sqlError("22021"));
    await assertLockError(strategy.giveBack(giveBackOf()), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([redis.counter, redis.journal.size], [5, 0]);
  });

  it("keeps the announcements for reconcile when the reply of PostgreSQL is lost", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.reply("releaseRelative", lostReply());
    await assertLockError(strategy.giveBack(giveBackOf()), "outcome_unknown", { isDefinite: false });
    assert.deepEqual([redis.counter, redis.journal.size], [5, 2]);
  });

  it("ends no order when the announcement fails", async () => {
    const { postgres, redis, strategy } = setUp();
    redis.failures.set("announce", unreachable);
    await assertLockError(strategy.giveBack(giveBackOf()), "backend_unavailable", { isDefinite: true });
    assert.equal(postgres.sent.length, 0);
  });
});

describe("the counter of a run", () => {
  it("starts with the stock and the buyers of PostgreSQL and without old entries", async () => {
    const { postgres, redis, strategy } = setUp(99);
    redis.journal.set("old-op", "1:1:buyer-9");
    redis.buyers.set("buyer-9", 1);
    postgres.reply("buyers", [{ buyer: "buyer-2", units: 1 }]);
    await strategy.prepare(PRODUCT, 10);
    assert.deepEqual([redis.counter, redis.journal.size, [...redis.buyers]], [10, 0, [["buyer-2", 1]]]);
  });
});
