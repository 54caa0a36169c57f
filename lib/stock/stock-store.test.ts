import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../locks/testing/fake-clock";
import type { StatementName } from "./stock-sql";
import { type Statement, StockStore } from "./stock-store";
import { FakePostgres, lostReply, type Reply, sqlError } from "./testing/fake-postgres";
import { assertLockError, COUPON, giveBackOf, purchaseOf } from "./testing/requests";
import type { OrderTerms, StockRequest } from "./types";

function setUp(statement: StatementName, ...replies: Reply[]) {
  const postgres = new FakePostgres();
  for (const suffix of ["", "_shop", "_settle"]) postgres.reply(`${statement}${suffix}`, ...replies);
  const store = new StockStore(postgres.pool, "node-1", { clock: new FakeClock(), cancel: async () => {} });
  const run = (request: StockRequest, tx?: unknown) =>
    store.run(request, { name: statement, values: ["v"], strategyId: "test", tx: tx as Statement["tx"] });
  return { postgres, store, run };
}

describe("a statement whose reply is lost", () => {
  const unknown = ["outcome_unknown", { isDefinite: false }] as const;
  const failed = ["backend_unavailable", { isDefinite: true }] as const;

  for (const name of ["writeAbsolute", "writeFenced", "writeVersioned", "takeGuarded", "takeUnguarded"] as const)
    it(`has an unknown outcome when it is ${name}, with tx null or undefined`, async () => {
      const { run } = setUp(name, lostReply());
      await assertLockError(run(purchaseOf(), null), ...unknown);
      await assertLockError(run(purchaseOf(), undefined), ...unknown);
    });

  for (const name of ["read", "readFenced"] as const)
    it(`has failed when it is ${name}, which sells nothing`, async () => {
      await assertLockError(setUp(name, lostReply()).run(purchaseOf()), ...failed);
    });

  it("has failed when its transaction is not committed yet", async () => {
    const { postgres, run } = setUp("writeAbsolute", lostReply());
    await assertLockError(run(purchaseOf(), postgres.client), ...failed);
  });

  it("has an unknown outcome when PostgreSQL was shut down during it", async () => {
    await assertLockError(setUp("takeGuarded", sqlError("57P01")).run(purchaseOf()), ...unknown);
  });

  it("has failed when PostgreSQL refused it", async () => {
    await assertLockError(setUp("takeGuarded", sqlError("22021")).run(purchaseOf()), ...failed);
  });

  it("has failed when no connection could be made", async () => {
    const { postgres, run } = setUp("takeGuarded");
    postgres.connectFailure = new Error("ECONNREFUSED");
    await assertLockError(run(purchaseOf()), ...failed);
  });
});

describe("the connection of a statement", () => {
  it("goes back to the pool after a reply, also after a refusal", async () => {
    const { postgres, run } = setUp("takeGuarded", { order_id: "42" }, sqlError("22021"));
    await run(purchaseOf());
    await Promise.allSettled([run(purchaseOf())]);
    assert.deepEqual(postgres.released, [undefined, undefined]);
  });

  it("is closed after a lost reply", async () => {
    const { postgres, run } = setUp("takeGuarded", lostReply());
    await Promise.allSettled([run(purchaseOf())]);
    assert.match(postgres.released[0]?.message ?? "", /terminated/);
  });

  it("stays with the transaction that owns it", async () => {
    const { postgres, run } = setUp("writeAbsolute", { order_id: "42" });
    await run(purchaseOf(), postgres.client);
    assert.deepEqual(postgres.released, []);
  });

  it("is waited for in the phase of the statement", async () => {
    const write = purchaseOf();
    await setUp("takeGuarded", null).run(write);
    assert.deepEqual([write.trace.waitPoolNs, typeof write.trace.commitPoolNs], [undefined, "bigint"]);
    const held = purchaseOf({ trace: { opId: "op-1", invokedNs: 0n, grantedNs: 1n } });
    await setUp("read", null).run(held);
    assert.equal(typeof held.trace.holdPoolNs, "bigint");
    const waiting = purchaseOf();
    await setUp("read", null).run(waiting);
    assert.equal(typeof waiting.trace.waitPoolNs, "bigint");
  });
});

describe("the time limit of a statement", () => {
  it("is the rest of the wait timeout, and at least two seconds", async () => {
    const { postgres, run } = setUp("takeGuarded", null);
    const invokedNs = process.hrtime.bigint();
    await run(purchaseOf({ waitTimeoutMs: 60_000, trace: { opId: "op-1", invokedNs } }));
    await run(purchaseOf({ waitTimeoutMs: 0 }));
    const [long = 0, short] = postgres.sent.map(({ timeoutMs }) => timeoutMs);
    assert.ok(long > 30_000 && long <= 60_000, `expected up to 60,000 ms, found ${long}`);
    assert.equal(short, 2_000);
  });
});

describe("the statement of an order", () => {
  const shop: OrderTerms = { kind: "shop", idempotencyKey: "key", paymentWindowMs: 9, purchaseTokenId: "token" };

  for (const { terms, target, name, values } of [
    { terms: undefined, target: undefined, name: "takeGuarded", values: ["v"] },
    { terms: shop, target: undefined, name: "takeGuarded_shop", values: ["v", "key", 9, "token"] },
    { terms: shop, target: COUPON, name: "takeGuarded_shop", values: ["v", "key"] },
    { terms: { kind: "pending", orderId: "11" }, target: undefined, name: "takeGuarded_settle", values: ["v", "11"] },
  ] as const)
    it(`is ${name} with ${values.length} values for ${target?.kind ?? "product"} and ${terms?.kind ?? "no"} terms`, async () => {
      const { postgres, run } = setUp("takeGuarded", { order_id: "42" });
      await run(purchaseOf({ order: terms, ...(target ? { target } : {}) }));
      assert.deepEqual(
        postgres.sent.map((sent) => [sent.name, sent.values]),
        [[name, values]],
      );
    });

  it("adds no order terms to a read", async () => {
    const { postgres, run } = setUp("read", { stock: 1 });
    await run(purchaseOf({ order: shop }));
    assert.deepEqual(postgres.valuesOf("read"), ["v"]);
  });

  it("reports the rejection of the row as PostgreSQL's own error", async () => {
    const rejection = sqlError("23505", "orders_idempotency_key");
    await assert.rejects(setUp("takeGuarded", rejection).run(purchaseOf()), (error) => error === rejection);
  });

  it("ends orders up to the deadline of the request", async () => {
    const { postgres, store } = setUp("releaseRelative", null);
    const dueBefore = new Date(5);
    const statement = { name: "releaseRelative", values: [], strategyId: "test" } as const;
    const outcome = await store.release(giveBackOf({ dueBefore, as: "cancelled", reason: "why" }), statement);
    assert.deepEqual(outcome, { due: 0, released: [] });
    assert.deepEqual(postgres.valuesOf("releaseRelative"), [7, ["11", "12"], "cancelled", "why", dueBefore, "end-1"]);
  });
});
