import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SqlBuckets } from "./sql-buckets";
import { stockStatement } from "./stock-sql";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, sqlError } from "./testing/fake-postgres";
import { assertLockError, orderValuesOf, PRODUCT, purchaseOf } from "./testing/requests";

function setUp(random = 0.5) {
  const postgres = new FakePostgres();
  const store = new StockStore(postgres.pool, "node-1");
  const strategy = new SqlBuckets({ store, pool: postgres.pool, random: () => random, buckets: 4 });
  return { postgres, strategy };
}

const FREE = "takeFromFreeBucket";
const BUSY = "takeFromBusyBucket";
const ALL = "takeFromAll";
const order = [7, ...orderValuesOf("sql-buckets")];

describe("sql-buckets", () => {
  it("stops at a free bucket, starting its search at a random one", async () => {
    const { postgres, strategy } = setUp(0.999);
    postgres.reply(FREE, { order_id: "42" });
    const request = purchaseOf();
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold", orderId: "42" });
    assert.deepEqual(postgres.namesSent(), [FREE]);
    assert.deepEqual(postgres.valuesOf(FREE), [...order, 3, 4]);
    assert.equal(request.trace.attempts, 1);
    assert.equal(request.trace.readValue, undefined, "the count of one bucket is not the stock of the target");
  });

  it("tries a free bucket, then a busy one, then all of them", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply(FREE, null).reply(BUSY, null).reply(ALL, { order_id: "42", stock: null });
    const request = purchaseOf();
    assert.equal((await strategy.reduceStock(request)).status, "sold");
    assert.deepEqual(postgres.namesSent(), [FREE, BUSY, ALL]);
    assert.deepEqual(postgres.valuesOf(BUSY), postgres.valuesOf(FREE), "expected the same starting bucket");
    assert.deepEqual(postgres.valuesOf(ALL), order);
    assert.deepEqual([request.trace.attempts, request.trace.readValue], [3, undefined]);
  });

  it("stops at a busy bucket that has enough units", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply(FREE, null).reply(BUSY, { order_id: "42" });
    assert.equal((await strategy.reduceStock(purchaseOf())).status, "sold");
    assert.deepEqual(postgres.namesSent(), [FREE, BUSY]);
  });

  it("is sold out only when all buckets and the row together have too few units", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply(FREE, null).reply(BUSY, null).reply(ALL, null);
    const request = purchaseOf();
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold_out" });
    assert.deepEqual([request.trace.attempts, request.trace.writeAccepted], [3, false]);
  });

  it("records stock values when all units came from the row", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply(FREE, null).reply(BUSY, null).reply(ALL, { order_id: "42", stock: 3 });
    const request = purchaseOf({ quantity: 2 });
    await strategy.reduceStock(request);
    assert.deepEqual([request.trace.readValue, request.trace.writtenValue], [5, 3]);
  });

  for (const lost of [FREE, BUSY, ALL])
    it(`sends nothing after a lost reply to ${lost}, because the order may exist`, async () => {
      const { postgres, strategy } = setUp();
      for (const name of [FREE, BUSY, ALL]) postgres.reply(name, name === lost ? lostReply() : null);
      await assertLockError(strategy.reduceStock(purchaseOf()), "outcome_unknown", { isDefinite: false });
      assert.equal(postgres.namesSent().at(-1), lost);
    });

  it("records that a refused statement wrote nothing", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply(FREE, null).reply(BUSY, sqlError("22021"));
    const request = purchaseOf();
    await assertLockError(strategy.reduceStock(request), "backend_unavailable", { isDefinite: true });
    assert.equal(request.trace.writeAccepted, false);
  });

  it("tries no other bucket for a rejected buyer", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply(FREE, sqlError("23505", "orders_purchase_token"));
    const request = purchaseOf();
    assert.deepEqual(await strategy.reduceStock(request), { status: "token_used" });
    assert.deepEqual(postgres.namesSent(), [FREE]);
    assert.equal(request.trace.writeAccepted, false);
  });

  it("prepares a run by splitting the stock over the buckets, and names a failure of PostgreSQL", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("splitStock", null, lostReply());
    await strategy.prepare(PRODUCT, 10);
    assert.deepEqual(postgres.valuesOf("splitStock"), [7, 10, 4]);
    await assertLockError(strategy.prepare(PRODUCT, 10), "backend_unavailable", { isDefinite: true });
  });
});

describe("the locks of the bucket statements", () => {
  const text = (name: Parameters<typeof stockStatement>[1]) => stockStatement("product", name).text;

  for (const name of [ALL, "foldBuckets"] as const)
    it(`${name} locks the buckets in ascending order, so that two statements cannot deadlock`, () => {
      assert.match(text(name), /ORDER BY b\.bucket FOR UPDATE/);
      assert.ok(text(name).indexOf("FOR UPDATE") < text(name).indexOf("UPDATE products"), "buckets before the row");
    });

  it("only the first attempt skips locked buckets", () => {
    assert.match(text(FREE), /FOR UPDATE SKIP LOCKED/);
    assert.doesNotMatch(text(BUSY), /SKIP LOCKED/);
    assert.doesNotMatch(text(ALL), /SKIP LOCKED/);
  });

  it("a bucket is checked again when it is taken, because it may have been emptied while the statement waited", () => {
    for (const name of [FREE, BUSY] as const)
      assert.match(text(name), /b\.bucket = picked\.bucket AND b\.units >= \$3/);
  });
});
