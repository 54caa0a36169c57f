import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limitPerBuyerOf, listCounted, RedisCounter } from "./redis-counter";
import { FakeRedis } from "./testing/fake-redis";
import { COUPON, PRODUCT } from "./testing/requests";

const TAKE = { opId: "op-1", buyerId: "buyer-1", quantity: 2 };
const counterOf = (redis: FakeRedis) => new RedisCounter(redis, PRODUCT, "test");

describe("the counter in Redis", () => {
  it("reports each result of the take script", async () => {
    const redis = new FakeRedis(5);
    const counter = counterOf(redis);
    assert.deepEqual(await counter.take(TAKE, 2), { status: "taken", left: 3 });
    assert.deepEqual(await counter.take({ ...TAKE, opId: "op-2" }, 2), { status: "at_limit" });
    assert.deepEqual(await counter.take({ ...TAKE, quantity: 9 }, 0), { status: "sold_out", left: 3 });
    assert.deepEqual(await counterOf(new FakeRedis(null)).take(TAKE, 0), { status: "no_counter" });
  });

  it("enters the same journal text by transaction as by script", async () => {
    const [byScript, byTransaction] = [new FakeRedis(5), new FakeRedis(5)];
    await counterOf(byScript).take(TAKE, 4);
    const { nowEpochMs: atEpochMs } = byTransaction;
    for (const [command = "", ...parameters] of counterOf(byTransaction).takeCommands(TAKE, { limit: 4, atEpochMs }))
      await byTransaction.call(String(command), ...parameters);
    assert.deepEqual([...byTransaction.journal], [...byScript.journal]);
    assert.deepEqual([...byTransaction.buyers], [...byScript.buyers]);
    assert.equal(byTransaction.counter, byScript.counter);
  });

  it("gives an entry back once", async () => {
    const redis = new FakeRedis(5);
    await counterOf(redis).take(TAKE, 4);
    assert.equal(await counterOf(redis).giveBack(TAKE, "remove_buyer"), true);
    assert.equal(await counterOf(redis).giveBack(TAKE, "remove_buyer"), false);
    assert.deepEqual([redis.counter, redis.buyers.size], [5, 0]);
  });

  it("stores buyers in commands of at most 1,000", async () => {
    const events: string[] = [];
    const redis = new FakeRedis(5, events);
    await counterOf(redis).storeBuyers(Array.from({ length: 2_500 }, (_, at) => ({ buyer: `b-${at}`, units: 1 })));
    assert.deepEqual([events.length, redis.buyers.size], [3, 2_500]);
  });

  it("limits coupons to one each, and products only if the product says so", () => {
    assert.equal(limitPerBuyerOf({ target: COUPON, limitPerBuyer: 9 }), 1);
    assert.equal(limitPerBuyerOf({ target: PRODUCT, limitPerBuyer: 3 }), 3);
    assert.equal(limitPerBuyerOf({ target: PRODUCT }), 0);
  });

  it("lists the targets of all scan pages, each once, and ignores other keys", async () => {
    const pages: Readonly<Record<string, unknown>> = {
      "0": ["17", ["journal:product:7", "journal:other"]],
      "17": ["0", ["stock:product:7", "stock:coupon:8", "journal:product:0", "bought:product:9"]],
    };
    const commands = { call: async (_: string, cursor: string | number = "") => pages[String(cursor)] };
    assert.deepEqual(await listCounted(commands, "test"), [PRODUCT, COUPON]);
  });
});
