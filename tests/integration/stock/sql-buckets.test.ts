import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type pg from "pg";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { foldBuckets, splitStock } from "../../../lib/stock/buckets";
import { SqlBuckets } from "../../../lib/stock/sql-buckets";
import { StockStore } from "../../../lib/stock/stock-store";
import type { OperationTrace, StockOutcome, StockTarget } from "../../../lib/stock/types";
import { BuyerProcess, buyTogether } from "../../support/buyer-process";
import { requireEnv, setEnv } from "../../support/lab-env";
import { openPgWatch, type PgWatch } from "../../support/pg-watch";
import { openTestPostgres } from "../../support/postgres-for-tests";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "bucket-test" });

const PROCESSES = 3;
let watch: PgWatch;
let processes: readonly BuyerProcess[] = [];
before(async () => {
  watch = await openPgWatch();
  processes = Array.from({ length: PROCESSES }, () => new BuyerProcess());
});
after(async () => {
  await Promise.all(processes.map((one) => one[Symbol.asyncDispose]()));
  await watch[Symbol.asyncDispose]();
  await postgresPool().end();
});

/** Creates a product whose buckets hold `units`, one entry per bucket. */
async function makeSplit(units: readonly number[], inRow = 0): Promise<StockTarget> {
  const target = { kind: "product" as const, id: await makeProduct(0) };
  await splitStock(postgresPool(), target, { units: 0, buckets: units.length });
  for (const [bucket, count] of units.entries()) {
    const text = "UPDATE stock_buckets SET units = $3 WHERE kind = 'product' AND target_id = $1 AND bucket = $2";
    await watch.client.query(text, [target.id, bucket, count]);
  }
  await watch.client.query("UPDATE products SET stock = $2 WHERE id = $1", [target.id, inRow]);
  return target;
}

async function unitsOf({ kind, id }: StockTarget): Promise<number[]> {
  const text = "SELECT units FROM stock_buckets WHERE kind = $1 AND target_id = $2 ORDER BY bucket";
  return (await watch.client.query<{ units: number }>(text, [kind, id])).rows.map(({ units }) => units);
}

const inAll = (units: readonly number[]) => units.reduce((sum, count) => sum + count, 0);

/** Starts every search at the first bucket if `random` is 0. */
const strategyOf = (buckets: number, pool = postgresPool(), random = 0) =>
  new SqlBuckets({ store: new StockStore(pool, "bucket-test"), pool, random: () => random, buckets });

let operations = 0;

async function buy(
  strategy: SqlBuckets,
  target: StockTarget,
  quantity = 1,
): Promise<{ outcome: StockOutcome; trace: OperationTrace }> {
  operations += 1;
  const trace: OperationTrace = { opId: `bucket-${process.pid}-${operations}`, invokedNs: nowNs() };
  const limits = { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 5_000 };
  const buyerId = `buyer-${operations}`;
  return { outcome: await strategy.reduceStock({ target, quantity, buyerId, runId: null, ...limits, trace }), trace };
}

const statusOf = async (bought: ReturnType<typeof buy>) => (await bought).outcome.status;

describe("splitStock and foldBuckets", () => {
  it("splits the units evenly over the buckets and moves them back into the row", async () => {
    const target = { kind: "product" as const, id: await makeProduct(10) };
    await splitStock(postgresPool(), target, { units: 10, buckets: 4 });
    assert.deepEqual(await unitsOf(target), [3, 3, 2, 2]);
    assert.equal((await productFacts(target.id)).stock, 0);
    await foldBuckets(postgresPool(), target);
    assert.deepEqual(await unitsOf(target), []);
    assert.equal((await productFacts(target.id)).stock, 10);
  });

  it("replaces the units of an earlier split", async () => {
    const target = await makeSplit([9, 9, 9, 9]);
    await splitStock(postgresPool(), target, { units: 3, buckets: 2 });
    assert.deepEqual(await unitsOf(target), [2, 1, 0, 0]);
    await foldBuckets(postgresPool(), target);
    await foldBuckets(postgresPool(), target);
    assert.equal((await productFacts(target.id)).stock, 3);
  });
});

describe("sql-buckets", () => {
  it("sells every unit once from three processes and empties every bucket", async () => {
    const target = { kind: "product" as const, id: await makeProduct(40) };
    await strategyOf(16).prepare(target, 40);
    const buyerIds = Array.from({ length: 25 }, (_, index) => `buyer-${index}`);
    const errand = { strategyId: "sql-buckets", postgres: {}, target, buyerIds, quantity: 1 };
    const statuses = await buyTogether(processes, errand);
    assert.equal(statuses.filter((status) => status === "sold").length, 40);
    assert.equal(statuses.filter((status) => status === "sold_out").length, PROCESSES * 25 - 40);
    assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 40 });
    assert.equal(inAll(await unitsOf(target)), 0);
  });

  it("sells as many orders of three units as fit, from three processes", async () => {
    const target = { kind: "product" as const, id: await makeProduct(40) };
    await strategyOf(16).prepare(target, 40);
    const buyerIds = Array.from({ length: 10 }, (_, index) => `buyer-${index}`);
    const errand = { strategyId: "sql-buckets", postgres: {}, target, buyerIds, quantity: 3 };
    const statuses = await buyTogether(processes, errand);
    assert.equal(statuses.filter((status) => status === "sold").length, 13);
    assert.equal(inAll(await unitsOf(target)), 1);
    assert.ok((await unitsOf(target)).every((units) => units >= 0));
  });

  it("gives each user one coupon from three processes, and takes no unit for rejected claims", async () => {
    const target = { kind: "coupon" as const, id: await makeCoupon(20) };
    await strategyOf(16).prepare(target, 20);
    const buyerIds = Array.from({ length: 8 }, (_, index) => `buyer-${index}`);
    const errand = { strategyId: "sql-buckets", postgres: {}, target, buyerIds, quantity: 1 };
    const statuses = await buyTogether(processes, errand);
    assert.equal(statuses.filter((status) => status === "sold").length, 8);
    assert.equal(statuses.filter((status) => status === "already_claimed").length, PROCESSES * 8 - 8);
    assert.deepEqual(await couponFacts(target.id), { stock: 0, claims: 8 });
    assert.equal(inAll(await unitsOf(target)), 12);
  });

  it("takes from another bucket when its first one is empty", async () => {
    const target = await makeSplit([0, 0, 2]);
    const statuses = [];
    for (let turn = 0; turn < 3; turn += 1) statuses.push(await statusOf(buy(strategyOf(3), target)));
    assert.deepEqual(statuses, ["sold", "sold", "sold_out"]);
    assert.deepEqual(await unitsOf(target), [0, 0, 0]);
  });

  it("starts at the bucket that the random number selects and wraps around, so that buyers rarely collide", async () => {
    for (const [random, units] of [
      [0, [1, 2, 2]],
      [0.4, [2, 2, 1]],
      [0.7, [2, 1, 2]],
    ] as const) {
      const target = await makeSplit([2, 2, 2]);
      assert.equal(await statusOf(buy(strategyOf(3, postgresPool(), random), target)), "sold");
      assert.deepEqual(await unitsOf(target), units, `random ${random}`);
    }
    const target = await makeSplit([2, 0, 0]);
    assert.equal(await statusOf(buy(strategyOf(3, postgresPool(), 0.4), target)), "sold");
    assert.deepEqual(await unitsOf(target), [1, 0, 0]);
  });

  for (const [what, run] of [
    [
      "a purchase of units from all buckets",
      (target: StockTarget, pool: pg.Pool) => buy(strategyOf(3, pool), target, 5),
    ],
    ["splitStock", (target: StockTarget, pool: pg.Pool) => splitStock(pool, target, { units: 9, buckets: 3 })],
    ["foldBuckets", (target: StockTarget, pool: pg.Pool) => foldBuckets(pool, target)],
  ] as const)
    it(`${what} waits for the lowest bucket before it locks another, so that two statements cannot deadlock`, async () => {
      const target = await makeSplit([2, 2, 2]);
      await using postgres = openTestPostgres();
      await postgres.pool.query("SELECT 1");
      const other = await postgresPool().connect();
      const lock = "SELECT bucket FROM stock_buckets WHERE kind = 'product' AND target_id = $1 AND bucket";
      await other.query("BEGIN");
      await other.query(`${lock} = 0 FOR UPDATE`, [target.id]);
      const running = run(target, postgres.pool);
      await watch.untilWaiting(postgres.applicationName, 1);
      const free = await other.query(`${lock} > 0 FOR UPDATE SKIP LOCKED`, [target.id]);
      await other.query("ROLLBACK");
      other.release();
      await running;
      assert.equal(free.rows.length, 2, `expected 2 unlocked buckets, found ${free.rows.length}`);
    });

  it("skips a locked bucket without waiting when another has a unit", async () => {
    const target = await makeSplit([5, 5]);
    const text = "SELECT FROM stock_buckets WHERE kind = 'product' AND target_id = $1 AND bucket = 0 FOR UPDATE";
    await watch.client.query("BEGIN");
    await watch.client.query(text, [target.id]);
    const { outcome, trace } = await buy(strategyOf(2), target);
    await watch.client.query("ROLLBACK");
    assert.equal(outcome.status, "sold");
    assert.equal(trace.attempts, 1);
    assert.deepEqual(await unitsOf(target), [5, 4]);
  });

  /** Buys while another transaction has taken the last unit and then commits or rolls back. @returns the status of the purchase */
  async function buyWhileTaken(target: StockTarget, end: "COMMIT" | "ROLLBACK"): Promise<string> {
    await using postgres = openTestPostgres();
    await postgres.pool.query("SELECT 1");
    const other = await postgresPool().connect();
    await other.query("BEGIN");
    const take = "UPDATE stock_buckets SET units = 0 WHERE kind = 'product' AND target_id = $1 AND bucket = 1";
    await other.query(take, [target.id]);
    const buying = buy(strategyOf(2, postgres.pool), target);
    await watch.untilWaiting(postgres.applicationName, 1);
    await other.query(end);
    other.release();
    return await statusOf(buying);
  }

  it("is not sold out while another transaction only locks the last unit", async () => {
    const target = await makeSplit([0, 1]);
    assert.equal(await buyWhileTaken(target, "ROLLBACK"), "sold");
    assert.deepEqual(await unitsOf(target), [0, 0]);
  });

  it("is sold out when the last unit is sold while it waits for the lock", async () => {
    const target = await makeSplit([0, 1]);
    assert.equal(await buyWhileTaken(target, "COMMIT"), "sold_out");
    assert.deepEqual(await unitsOf(target), [0, 0]);
  });

  it("collects a quantity from several buckets in one order", async () => {
    const target = await makeSplit([1, 0, 2, 1]);
    assert.equal(await statusOf(buy(strategyOf(4), target, 3)), "sold");
    assert.deepEqual(await unitsOf(target), [0, 0, 0, 1]);
    assert.equal((await productFacts(target.id)).orders, 1);
    assert.equal(await statusOf(buy(strategyOf(4), target, 2)), "sold_out");
    assert.deepEqual(await unitsOf(target), [0, 0, 0, 1]);
  });

  it("takes units from the row when the buckets have too few, for example units that were given back", async () => {
    const target = await makeSplit([1, 1], 2);
    assert.equal(await statusOf(buy(strategyOf(2), target, 3)), "sold");
    assert.deepEqual([await unitsOf(target), (await productFacts(target.id)).stock], [[0, 0], 1]);
    assert.equal(await statusOf(buy(strategyOf(2), target, 2)), "sold_out");
    const { outcome, trace } = await buy(strategyOf(2), target);
    assert.equal(outcome.status, "sold");
    assert.deepEqual([trace.readValue, trace.writtenValue], [1, 0]);
    assert.equal(await statusOf(buy(strategyOf(2), target)), "sold_out");
  });

  it("records no stock value when the units came from buckets", async () => {
    const { trace } = await buy(strategyOf(2), await makeSplit([2, 2]));
    assert.deepEqual([trace.readValue, trace.writtenValue, trace.writeAccepted], [undefined, undefined, true]);
  });
});
