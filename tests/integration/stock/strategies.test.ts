import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { closeLockClients, lockDependencies } from "../../../lib/stock/lock-dependencies";
import { createStockStrategy, stockCatalogue } from "../../../lib/stock/registry";
import type { OperationTrace, StockOutcome, StockStrategy, StockTarget } from "../../../lib/stock/types";
import { requireEnv, setEnv } from "../../support/lab-env";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";

requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "MEMCACHED_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");
setEnv({ STORE_NODE: "stock-test" });

const STOCK = 8;
const BUYERS = 24;
const safeAlone = [...stockCatalogue.values()].filter(({ traits }) => traits.expected.alone === "safe");

let operations = 0;
function newTrace(): OperationTrace {
  operations += 1;
  return { opId: `test-${process.pid}-${operations}`, invokedNs: nowNs() };
}

interface Purchase {
  readonly target: StockTarget;
  readonly buyerId: string;
  readonly holdMs?: number;
}

function buy(
  strategy: StockStrategy,
  { target, buyerId, holdMs = 2 }: Purchase,
): Promise<{ outcome: StockOutcome; trace: OperationTrace }> {
  const trace = newTrace();
  const limits = { holdMs, ttlMs: 5_000, waitTimeoutMs: 10_000 };
  return strategy
    .reduceStock({ target, quantity: 1, buyerId, runId: null, ...limits, trace })
    .then((outcome) => ({ outcome, trace }));
}

function create(id: string): StockStrategy {
  return createStockStrategy(id, { pool: postgresPool(), node: "stock-test", locks: lockDependencies() });
}

const count = (answers: readonly { outcome: StockOutcome }[], status: StockOutcome["status"]) =>
  answers.filter(({ outcome }) => outcome.status === status).length;

describe("stock strategies", () => {
  after(async () => {
    await closeLockClients();
    await postgresPool().end();
  });

  for (const { traits } of safeAlone) {
    it(`${traits.id} sells every unit once to buyers that come together`, async () => {
      await using strategy = create(traits.id);
      const target = { kind: "product" as const, id: await makeProduct(STOCK) };
      const buyers = Array.from({ length: BUYERS }, (_, index) => ({ target, buyerId: `buyer-${index}` }));
      const answers = await Promise.all(buyers.map((purchase) => buy(strategy, purchase)));
      assert.equal(count(answers, "sold"), STOCK);
      assert.equal(count(answers, "sold_out"), BUYERS - STOCK);
      assert.deepEqual(await productFacts(target.id), { stock: 0, orders: STOCK });
    });

    it(`${traits.id} gives a buyer who claims many times at once one coupon`, async () => {
      await using strategy = create(traits.id);
      const target = { kind: "coupon" as const, id: await makeCoupon(STOCK) };
      const claims = Array.from({ length: 6 }, () => buy(strategy, { target, buyerId: "greedy" }));
      const answers = await Promise.all(claims);
      assert.equal(count(answers, "sold"), 1);
      assert.equal(count(answers, "already_claimed"), 5);
      assert.deepEqual(await couponFacts(target.id), { stock: STOCK - 1, claims: 1 });
    });

    it(`${traits.id} leaves a trace whose values and times agree`, async () => {
      await using strategy = create(traits.id);
      const target = { kind: "product" as const, id: await makeProduct(3) };
      const { trace } = await buy(strategy, { target, buyerId: "traced" });
      assert.equal(trace.readValue, 3);
      assert.equal(trace.writtenValue, 2);
      assert.equal(trace.writeAccepted, true);
      const order = [
        trace.invokedNs,
        trace.grantedNs ?? trace.invokedNs,
        trace.readNs,
        trace.writeNs,
        trace.committedNs,
      ];
      for (const [index, at] of order.entries()) {
        assert.ok(at !== undefined, `step ${index} has no time`);
        assert.ok(index === 0 || at >= (order[index - 1] ?? 0n), `step ${index} comes before its predecessor`);
      }
    });
  }

  it("none oversells buyers that come together", async () => {
    await using strategy = create("none");
    const target = { kind: "product" as const, id: await makeProduct(1) };
    // Long enough for a second one to read before the first one writes, on however busy a machine.
    const purchases = ["a", "b", "c"].map((buyerId) => buy(strategy, { target, buyerId, holdMs: 500 }));
    const answers = await Promise.all(purchases);
    const { orders } = await productFacts(target.id);
    assert.ok(orders > 1, `${orders} order`);
    assert.equal(count(answers, "sold"), orders);
  });

  it("sql-optimistic answers contended when its time is over before its version holds", async () => {
    await using strategy = create("sql-optimistic");
    const target = { kind: "product" as const, id: await makeProduct(1_000) };
    let over = false;
    const spoil = async () => {
      while (!over) await postgresPool().query("UPDATE products SET version = version + 1 WHERE id = $1", [target.id]);
    };
    const spoiler = spoil();
    const trace = newTrace();
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
