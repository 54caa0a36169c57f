import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../locks/clock";
import { systemRandom } from "../locks/random";
import { SqlSerializable } from "./sql-serializable";
import { StockStore } from "./stock-store";
import { FakePostgres, lostReply, sqlError } from "./testing/fake-postgres";
import { assertLockError, purchaseOf } from "./testing/requests";

function setUp() {
  const postgres = new FakePostgres();
  const store = new StockStore(postgres.pool, "node-1");
  const random = { ...systemRandom, fraction: () => 0 };
  const strategy = new SqlSerializable({ store, pool: postgres.pool, dependencies: { clock: systemClock, random } });
  return { postgres, strategy };
}

const patient = () => purchaseOf({ waitTimeoutMs: 5_000 });

describe("sql-serializable", () => {
  it("reads and writes in one transaction and returns the connection", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" });
    const request = patient();
    assert.deepEqual(await strategy.reduceStock(request), { status: "sold", orderId: "42" });
    assert.deepEqual(postgres.namesSent(), ["BEGIN", "read", "writeAbsolute", "COMMIT"]);
    assert.match(postgres.sent[0]?.text ?? "", /^BEGIN ISOLATION LEVEL SERIALIZABLE; SET LOCAL lock_timeout = \d+$/);
    assert.deepEqual(postgres.released, [undefined]);
    assert.deepEqual([request.trace.attempts, request.trace.writeAccepted], [1, true]);
  });

  for (const [at, replies] of [
    ["write", { writeAbsolute: [sqlError("40001"), { order_id: "42" }] }],
    ["commit", { writeAbsolute: [{ order_id: "42" }], COMMIT: [sqlError("40001"), null] }],
    ["write, by a deadlock", { writeAbsolute: [sqlError("40P01"), { order_id: "42" }] }],
  ] as const)
    it(`starts a new transaction after a serialization failure at the ${at}`, async () => {
      const { postgres, strategy } = setUp();
      postgres.reply("read", { stock: 5 }, { stock: 4 });
      for (const [name, scripted] of Object.entries(replies)) postgres.reply(name, ...scripted);
      const request = patient();
      assert.equal((await strategy.reduceStock(request)).status, "sold");
      assert.equal(postgres.namesSent().filter((name) => name === "BEGIN").length, 2);
      assert.deepEqual([request.trace.attempts, request.trace.writtenValue], [2, 3]);
      assert.equal(postgres.released.length, 2);
    });

  for (const [at, replies] of [
    ["write", { writeAbsolute: [sqlError("40001")] }],
    ["commit", { writeAbsolute: [{ order_id: "42" }], COMMIT: [sqlError("40001")] }],
  ] as const)
    it(`records that a serialization failure at the ${at} wrote nothing`, async () => {
      const { postgres, strategy } = setUp();
      postgres.reply("read", { stock: 5 });
      for (const [name, scripted] of Object.entries(replies)) postgres.reply(name, ...scripted);
      const request = purchaseOf();
      assert.equal((await strategy.reduceStock(request)).status, "contended");
      assert.deepEqual([request.trace.writeAccepted, request.trace.writtenValue], [false, undefined]);
    });

  it("leaves writeAccepted open when the reply to the COMMIT of a retry is lost, even if the caller aborts", async () => {
    const { postgres, strategy } = setUp();
    const caller = new AbortController();
    postgres.reply("read", { stock: 5 }, { stock: 4 });
    postgres.reply("writeAbsolute", sqlError("40001"), { order_id: "42" }).reply("COMMIT", lostReply());
    postgres.onStatement = (name) => name === "COMMIT" && caller.abort();
    const request = purchaseOf({ waitTimeoutMs: 5_000, signal: caller.signal });
    await assertLockError(strategy.reduceStock(request), "outcome_unknown", { isDefinite: false });
    assert.deepEqual([request.trace.writeAccepted, request.trace.writtenValue], [undefined, 3]);
  });

  it("rolls back before it returns the connection of a failed attempt", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", sqlError("40001"));
    const outcome = await strategy.reduceStock(purchaseOf());
    assert.ok(outcome.status === "contended" && outcome.attempts === 1, JSON.stringify(outcome));
    assert.deepEqual(postgres.namesSent(), ["BEGIN", "read", "writeAbsolute", "ROLLBACK"]);
  });

  it("says sold out only after the transaction of the read has committed", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 0 }, { stock: 1 }).reply("COMMIT", sqlError("40001"), null);
    postgres.reply("writeAbsolute", { order_id: "42" });
    assert.equal((await strategy.reduceStock(patient())).status, "sold");
  });

  it("does not retry when the reply to COMMIT is lost, because the order may exist", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", { order_id: "42" }).reply("COMMIT", lostReply());
    await assertLockError(strategy.reduceStock(patient()), "outcome_unknown", { isDefinite: false });
    assert.equal(postgres.namesSent().filter((name) => name === "BEGIN").length, 1);
    assert.match(postgres.released[0]?.message ?? "", /terminated/, "expected the pool to close the connection");
  });

  it("fails definitely when the reply to the write is lost, because nothing is committed", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", lostReply());
    await assertLockError(strategy.reduceStock(patient()), "backend_unavailable", { isDefinite: true });
    assert.ok(!postgres.namesSent().includes("COMMIT"));
  });

  it("does not retry a rejected buyer", async () => {
    const { postgres, strategy } = setUp();
    postgres.reply("read", { stock: 5 }).reply("writeAbsolute", sqlError("23505", "orders_idempotency_key"));
    const request = patient();
    assert.deepEqual(await strategy.reduceStock(request), { status: "repeated_key" });
    assert.deepEqual([request.trace.attempts, request.trace.writeAccepted], [1, false]);
  });

  it("is contended when the pool has no free connection", async () => {
    const { postgres, strategy } = setUp();
    postgres.connectFailure = new Error("timeout exceeded when trying to connect");
    const outcome = await strategy.reduceStock(purchaseOf());
    assert.ok(outcome.status === "contended" && outcome.attempts === 1, JSON.stringify(outcome));
  });

  it("fails with backend_unavailable when the server cannot be reached", async () => {
    const { postgres, strategy } = setUp();
    postgres.connectFailure = new Error("connect ECONNREFUSED");
    await assertLockError(strategy.reduceStock(patient()), "backend_unavailable", { isDefinite: true });
  });

  it("stops before the write when the caller aborts", async () => {
    const { postgres, strategy } = setUp();
    const caller = new AbortController();
    postgres.reply("read", { stock: 5 });
    const request = purchaseOf({ waitTimeoutMs: 5_000, signal: caller.signal, holdMs: 60_000 });
    postgres.onStatement = (name) => name === "read" && caller.abort();
    await assertLockError(strategy.reduceStock(request), "aborted", { isDefinite: true });
    assert.ok(!postgres.namesSent().includes("writeAbsolute"));
  });
});
