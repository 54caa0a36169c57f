import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CounterQueries } from "./counter-queries";
import { createRedisWatch } from "./redis-watch";
import { StockStore } from "./stock-store";
import { FakePostgres } from "./testing/fake-postgres";
import { FakeRedis } from "./testing/fake-redis";
import { assertLockError, COUPON, purchaseOf } from "./testing/requests";

function setUp(counter: number | null = 5, random = 0) {
  const postgres = new FakePostgres();
  const redis = new FakeRedis(counter);
  postgres.reply("takeGuarded", { order_id: "42", stock: 4 }).reply("stock", { stock: 5 }).reply("buyers", null);
  const strategy = createRedisWatch({
    store: new StockStore(postgres.pool, "node-1"),
    queries: new CounterQueries(postgres.pool, "redis-watch"),
    redis,
    openSession: () => redis.openSession(),
    random: () => random,
  });
  return { postgres, redis, strategy };
}

const namesOf = ({ sessions }: FakeRedis) => sessions.flatMap(({ commands }) => commands.map(([name]) => name));

describe("redis-watch", () => {
  it("watches, reads, and takes the unit with its journal entry in one transaction", async () => {
    const { postgres, redis, strategy } = setUp();
    postgres.onStatement = () => assert.match(redis.journal.get("op-1") ?? "", /^1:1700000000000:buyer-1$/);
    assert.deepEqual(await strategy.reduceStock(purchaseOf()), { status: "sold", orderId: "42" });
    assert.deepEqual(namesOf(redis), ["WATCH", "GET", "TIME", "MULTI", "DECRBY", "HSET", "EXEC"]);
    assert.deepEqual([redis.counter, redis.journal.size], [4, 0]);
  });

  it("retries when the counter changed between read and EXEC", async () => {
    const { redis, strategy } = setUp();
    let changes = 2;
    redis.onSessionCommand = (command) => {
      if (command === "MULTI" && changes-- > 0) redis.version += 1;
    };
    const request = purchaseOf({ waitTimeoutMs: 5_000 });
    assert.equal((await strategy.reduceStock(request)).status, "sold");
    assert.deepEqual([request.trace.attempts, redis.counter, redis.sessions.length], [3, 4, 1]);
  });

  it("is contended when the next delay would exceed the wait timeout, and takes nothing", async () => {
    const { postgres, redis, strategy } = setUp(5, 1);
    redis.onSessionCommand = (command) => {
      if (command === "MULTI") redis.version += 1;
    };
    const request = purchaseOf({ waitTimeoutMs: 5 });
    const outcome = await strategy.reduceStock(request);
    assert.ok(outcome.status === "contended" && outcome.attempts === 1, JSON.stringify(outcome));
    assert.equal(request.trace.writeAccepted, false);
    assert.deepEqual([redis.counter, postgres.sent.length], [5, 0]);
  });

  it("leaves writeAccepted open when the reply to the EXEC of a retry is lost", async () => {
    const { redis, strategy } = setUp();
    let attempts = 0;
    redis.onSessionCommand = (command) => {
      if (command === "MULTI" && attempts++ === 0) redis.version += 1;
      if (command === "EXEC" && attempts === 2) throw new Error("Connection is closed.");
    };
    const request = purchaseOf({ waitTimeoutMs: 5_000 });
    await assertLockError(strategy.reduceStock(request), "backend_unavailable", { isDefinite: true });
    assert.deepEqual([request.trace.attempts, request.trace.writeAccepted], [2, undefined]);
  });

  it("ends the watch of a purchase that takes nothing, before the session is used again", async () => {
    const { redis, strategy } = setUp(0);
    assert.equal((await strategy.reduceStock(purchaseOf())).status, "sold_out");
    assert.equal(namesOf(redis).at(-1), "UNWATCH");
  });

  it("counts a buyer's units in the same transaction, and stops at the limit", async () => {
    const { redis, strategy } = setUp();
    assert.equal((await strategy.reduceStock(purchaseOf({ target: COUPON }))).status, "sold");
    assert.equal(redis.buyers.get("buyer-1"), 1);
    assert.equal((await strategy.reduceStock(purchaseOf({ target: COUPON }))).status, "already_claimed");
    assert.equal(redis.counter, 4);
  });

  it("closes a session that failed, because its watch is unknown, and opens another", async () => {
    const { redis, strategy } = setUp();
    redis.onSessionCommand = (command) => {
      if (command === "EXEC") throw new Error("Connection is closed.");
    };
    await assertLockError(strategy.reduceStock(purchaseOf()), "backend_unavailable", { isDefinite: true });
    assert.equal(redis.sessions[0]?.isLost, true);
    redis.onSessionCommand = () => {};
    assert.equal((await strategy.reduceStock(purchaseOf())).status, "sold");
    assert.equal(redis.sessions.length, 2);
  });

  it("initializes a missing counter and keeps counting attempts", async () => {
    const { redis, strategy } = setUp(null);
    const request = purchaseOf();
    assert.equal((await strategy.reduceStock(request)).status, "sold");
    assert.deepEqual([redis.counter, request.trace.attempts], [4, 2]);
  });
});
