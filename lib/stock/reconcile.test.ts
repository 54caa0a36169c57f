import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CounterQueries } from "./counter-queries";
import { readDrift, reconcile } from "./reconcile";
import { RedisCounter } from "./redis-counter";
import { FakePostgres } from "./testing/fake-postgres";
import { FakeRedis } from "./testing/fake-redis";
import { PRODUCT } from "./testing/requests";

const MINUTE_MS = 60_000;

function setUp(stock: number, counter: number | null) {
  const events: string[] = [];
  const postgres = new FakePostgres(events);
  const redis = new FakeRedis(counter, events);
  postgres.reply("stock", { stock }).reply("withOrder", null).reply("endedBy", null);
  const parts = [new RedisCounter(redis, PRODUCT, "test"), new CounterQueries(postgres.pool, "test")] as const;
  const enter = (opId: string, quantity: number, ageMs: number) =>
    redis.journal.set(opId, `${quantity}:${redis.nowEpochMs - ageMs}:buyer-1`);
  return { events, postgres, redis, parts, enter };
}

describe("reconciling a counter with its row", () => {
  it("gives back units without an order and keeps those with one", async () => {
    const { postgres, redis, parts, enter } = setUp(4, 2);
    enter("op-sold", 1, MINUTE_MS);
    enter("op-lost", 2, MINUTE_MS);
    const fresh = new FakePostgres().reply("stock", { stock: 4 }).reply("withOrder", [{ op_id: "op-sold" }]);
    const result = await reconcile(parts[0], new CounterQueries(fresh.pool, "test"), {});
    assert.deepEqual(result, { kept: 1, givenBack: 2, pending: 0, corrected: 0 });
    assert.deepEqual([redis.counter, redis.journal.size], [4, 0]);
    assert.deepEqual(fresh.valuesOf("withOrder"), [7, ["op-sold", "op-lost"]]);
    assert.equal(postgres.sent.length, 0);
  });

  it("leaves entries alone that are younger than a minute, and does not correct the counter beside them", async () => {
    const { postgres, redis, parts, enter } = setUp(5, 1);
    enter("op-1", 3, MINUTE_MS - 1);
    assert.deepEqual(await reconcile(...parts, {}), { kept: 0, givenBack: 0, pending: 3, corrected: 0 });
    assert.deepEqual(postgres.namesSent(), [], "expected no query for a counter that cannot be corrected yet");
    assert.deepEqual([redis.counter, redis.journal.size], [1, 1]);
  });

  it("settles the young entries of a dead process, also those of announced returns", async () => {
    const { redis, parts, enter } = setUp(4, 2);
    enter("op-dead", 1, 0);
    enter("return:11:op-dead", 1, 0);
    const { givenBack, kept } = await reconcile(...parts, { isDead: (opId) => opId === "op-dead" });
    assert.deepEqual([givenBack, kept, redis.journal.size], [1, 1, 0]);
  });

  it("returns announced units if the order was ended by that operation, and drops them otherwise", async () => {
    const { postgres, redis, parts, enter } = setUp(5, 3);
    const ended = new FakePostgres().reply("stock", { stock: 5 }).reply("endedBy", [{ orderId: "11" }]);
    enter("return:11:end-1", 2, MINUTE_MS);
    enter("return:12:end-1", 4, MINUTE_MS);
    const result = await reconcile(parts[0], new CounterQueries(ended.pool, "test"), {});
    assert.deepEqual(result, { kept: 4, givenBack: 2, pending: 0, corrected: 0 });
    assert.deepEqual(ended.valuesOf("endedBy"), [7, ["11", "12"], ["end-1", "end-1"]]);
    assert.equal(redis.counter, 5);
    assert.equal(postgres.sent.length, 0);
  });

  it("gives each unit back once when two nodes reconcile at the same time", async () => {
    const { redis, parts, enter } = setUp(5, 4);
    enter("op-lost", 1, MINUTE_MS);
    const results = await Promise.all([reconcile(...parts, {}), reconcile(...parts, {})]);
    assert.equal(results[0].givenBack + results[1].givenBack, 1);
    assert.equal(redis.counter, 5);
  });

  it("sets an idle counter to the row, up or down", async () => {
    const low = setUp(5, 2);
    assert.equal((await reconcile(...low.parts, {})).corrected, 3);
    assert.equal(low.redis.counter, 5);
    const high = setUp(1, 4);
    assert.equal((await reconcile(...high.parts, {})).corrected, -3);
    assert.equal(high.redis.counter, 1);
  });

  it("leaves a drift that no entry explains, if it may change the counter only by the journal's units", async () => {
    const { redis, parts, enter } = setUp(5, 2);
    enter("op-lost", 1, 0);
    const result = await reconcile(...parts, { isDead: () => true, journalOnly: true });
    assert.deepEqual(result, { kept: 0, givenBack: 1, pending: 0, corrected: 0 });
    assert.deepEqual([redis.counter, redis.journal.size], [3, 0]);
  });

  it("does not correct a counter that moved after it was read", async () => {
    const { postgres, redis, parts } = setUp(5, 2);
    postgres.onStatement = () => {
      redis.counter = 1;
    };
    assert.equal((await reconcile(...parts, {})).corrected, 0);
    assert.equal(redis.counter, 1);
  });

  it("reads the counter and its journal before the row: an order written in between must not count twice", async () => {
    const { events, parts } = setUp(5, 4);
    await readDrift(...parts);
    assert.deepEqual(events, ["redis snapshot", "postgres stock"]);
  });

  it("reports the drift, and none without a counter", async () => {
    const { parts, enter } = setUp(5, 2);
    enter("op-1", 3, 0);
    assert.deepEqual(await readDrift(...parts), { counter: 2, stock: 5, pending: 3, drift: -3 });
    const { parts: absent } = setUp(5, null);
    assert.deepEqual(await readDrift(...absent), { counter: null, stock: 5, pending: 0, drift: 0 });
  });
});
