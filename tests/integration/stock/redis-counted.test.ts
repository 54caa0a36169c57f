import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import pg from "pg";
import { isLockError } from "../../../lib/locks/errors";
import { closeLockClients, lockDependencies } from "../../../lib/node/lock-dependencies";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import type { RedisCountedStock } from "../../../lib/stock/redis-counted-stock";
import { counterKeys, RedisCounter } from "../../../lib/stock/redis-counter";
import { createStockStrategy } from "../../../lib/stock/stock-strategies";
import type { OperationTrace, StockOutcome, StockTarget } from "../../../lib/stock/types";
import { requireEnv, setEnv } from "../../support/lab-env";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";
import { StockProcess, type StockProcessOrder } from "../../support/stock-process";
import { startTcpRelay, type TcpRelay } from "../../support/tcp-relay";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "counted-test" });

let operations = 0;
function newTrace(): OperationTrace {
  operations += 1;
  return { opId: `counted-${process.pid}-${operations}`, invokedNs: nowNs() };
}

const product = async (stock: number): Promise<StockTarget> => ({ kind: "product", id: await makeProduct(stock) });
const coupon = async (stock: number): Promise<StockTarget> => ({ kind: "coupon", id: await makeCoupon(stock) });
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const countOf = (outcomes: readonly StockOutcome[], status: StockOutcome["status"]) =>
  outcomes.filter((outcome) => outcome.status === status).length;

for (const id of ["redis-decrement", "redis-watch"]) {
  describe(id, () => {
    let redis: Redis;
    let strategy: RedisCountedStock;
    let relay: TcpRelay;
    let relayedPool: pg.Pool;
    let relayed: RedisCountedStock;

    const create = (pool: pg.Pool) =>
      createStockStrategy(id, { pool, node: "counted-test", locks: lockDependencies() }) as RedisCountedStock;
    const buy = (target: StockTarget, buyerId: string, overrides: { by?: RedisCountedStock; quantity?: number } = {}) =>
      (overrides.by ?? strategy).reduceStock({
        target,
        quantity: overrides.quantity ?? 1,
        buyerId,
        runId: null,
        holdMs: 1,
        ttlMs: 5_000,
        waitTimeoutMs: 20_000,
        trace: newTrace(),
      });
    const journal = (target: StockTarget) => redis.hgetall(counterKeys(target).journal);
    const left = async (target: StockTarget) => Number(await redis.get(counterKeys(target).counter));

    before(async () => {
      redis = new Redis(process.env.REDIS_URL ?? "");
      strategy = create(postgresPool());
      const url = new URL(process.env.DATABASE_URL ?? "");
      relay = await startTcpRelay({ host: url.hostname, port: Number(url.port) });
      url.host = `127.0.0.1:${relay.port}`;
      relayedPool = new pg.Pool({ connectionString: url.href, connectionTimeoutMillis: 1_000 });
      relayedPool.on("error", () => {});
      relayed = create(relayedPool);
    });
    after(async () => {
      await Promise.all([strategy[Symbol.asyncDispose](), relayed[Symbol.asyncDispose]()]);
      await relay.close();
      await relayedPool.end();
      redis.disconnect();
    });

    async function inThreeProcesses(order: Omit<StockProcessOrder, "strategyId">): Promise<StockOutcome["status"][]> {
      await using one = new StockProcess({ ...order, strategyId: id });
      await using two = new StockProcess({ ...order, strategyId: id });
      await using three = new StockProcess({ ...order, strategyId: id });
      const all = [one, two, three];
      const whenAll = (type: "ready" | "done") =>
        waitUntil(() => all.every((each) => each.has(type)), { what: `three processes ${type}`, withinMs: 40_000 });
      await whenAll("ready");
      for (const each of all) each.go();
      await whenAll("done");
      return all.flatMap((each) => each.statuses());
    }

    it("sells exactly what there is from three processes", async () => {
      const target = await product(40);
      const limits = { holdMs: 1, waitTimeoutMs: 20_000 };
      const buyerIds = times(30, (index) => `buyer-${index}`);
      const statuses = await inThreeProcesses({ target, buyerIds, ...limits });
      assert.equal(statuses.filter((status) => status === "sold").length, 40);
      assert.equal(statuses.filter((status) => status === "sold_out").length, 50);
      assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 40 });
      assert.deepEqual(await strategy.drift(target), { counter: 0, stock: 0, pending: 0, drift: 0 });
    });

    it("gives one coupon a user, and duplicates from three processes drain nothing", async () => {
      const target = await coupon(12);
      const limits = { holdMs: 1, waitTimeoutMs: 20_000 };
      const five = times(30, (index) => `user-${index % 5}`);
      const statuses = await inThreeProcesses({ target, buyerIds: five, ...limits });
      assert.equal(statuses.filter((status) => status === "sold").length, 5);
      assert.equal(statuses.filter((status) => status === "already_claimed").length, 85);
      assert.deepEqual(await couponFacts(target.id), { stock: 7, claims: 5 });
      assert.deepEqual(await strategy.drift(target), { counter: 7, stock: 7, pending: 0, drift: 0 });
    });

    it("initializes the counter and the buyers from PostgreSQL for a target that was not prepared", async () => {
      const target = await coupon(3);
      const early = { couponId: target.id, userId: "early", node: "x", strategy: "x" };
      await prisma().couponClaim.create({ data: early });
      assert.equal((await buy(target, "early")).status, "already_claimed");
      assert.equal((await buy(target, "late")).status, "sold");
      assert.equal(await left(target), 2);
    });

    it("follows a row that other strategies sell from, once its counter has expired", async () => {
      const target = await product(5);
      await buy(target, "first");
      assert.ok((await redis.ttl(counterKeys(target).counter)) > 0);
      await prisma().product.update({ where: { id: target.id }, data: { stock: 1 } });
      await redis.del(counterKeys(target).counter);
      const outcomes = await Promise.all(times(4, (index) => buy(target, `b-${index}`)));
      assert.equal(countOf(outcomes, "sold"), 1);
      assert.equal(countOf(outcomes, "sold_out"), 3);
    });

    it("sells no more than the row has if the counter is too high, and does not change the counter", async () => {
      const target = await product(2);
      await strategy.prepare(target, 5);
      const outcomes = await Promise.all(times(4, (index) => buy(target, `b-${index}`)));
      assert.equal(countOf(outcomes, "sold"), 2);
      assert.equal(countOf(outcomes, "sold_out"), 2);
      assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 2 });
      assert.deepEqual(await strategy.drift(target), { counter: 3, stock: 0, pending: 0, drift: 3 });
      assert.deepEqual(await strategy.reconcile(target), { kept: 0, givenBack: 0, pending: 0, corrected: -3 });
      assert.equal(await left(target), 0);
    });

    it("starts a run with its stock and without counter, buyers or journal of an earlier run", async () => {
      const target = await coupon(10);
      await redis.set(counterKeys(target).counter, 99);
      await redis.hset(counterKeys(target).buyers, "earlier-buyer", 1);
      await redis.hset(counterKeys(target).journal, "old-op", "1:1:earlier-buyer");
      await strategy.prepare(target, 10);
      assert.equal(await left(target), 10);
      assert.equal((await buy(target, "earlier-buyer")).status, "sold");
      assert.deepEqual(await journal(target), {});
    });

    it("takes several units or none", async () => {
      const target = await product(3);
      assert.equal((await buy(target, "a", { quantity: 2 })).status, "sold");
      assert.equal((await buy(target, "b", { quantity: 2 })).status, "sold_out");
      assert.equal((await buy(target, "c")).status, "sold");
      assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 2 });
    });

    it("gives a unit back when PostgreSQL is unreachable for the order", async () => {
      const target = await coupon(3);
      await strategy.prepare(target, 3);
      const cut = new pg.Pool({ connectionString: "postgresql://lab@127.0.0.1:1/lab", connectionTimeoutMillis: 500 });
      await using unlucky = create(cut);
      await assert.rejects(
        buy(target, "buyer", { by: unlucky }),
        (error) => isLockError(error) && error.code === "backend_unavailable" && error.isDefinite,
      );
      assert.equal(await left(target), 3);
      assert.deepEqual(await journal(target), {});
      assert.equal((await buy(target, "buyer")).status, "sold", "expected the buyer's units to be given back too");
      await cut.end();
    });

    for (const { lost, arrives } of [
      { lost: "order", arrives: false },
      { lost: "reply to the order", arrives: true },
    ]) {
      it(`leaves a unit in the journal when the ${lost} was lost, until it is reconciled`, async () => {
        const target = await coupon(3);
        await strategy.prepare(target, 3);
        relay.heal();
        await relayedPool.query("SELECT 1");
        if (arrives) relay.swallowReplies();
        else relay.freeze();
        const trace = newTrace();
        const limits = { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 0, runId: null, quantity: 1 };
        await assert.rejects(
          relayed.reduceStock({ target, buyerId: "buyer", ...limits, waitTimeoutMs: 1_000, trace }),
          (error) => isLockError(error) && error.code === "outcome_unknown" && !error.isDefinite,
        );
        assert.match((await journal(target))[trace.opId] ?? "", /^1:\d{13}:buyer$/);
        const stock = arrives ? 2 : 3;
        assert.deepEqual(await strategy.drift(target), { counter: 2, stock, pending: 1, drift: 2 - stock });

        const young = { kept: 0, givenBack: 0, pending: 1, corrected: 0 };
        assert.deepEqual(await strategy.reconcile(target), young, "the order may be in progress");
        const twice = await Promise.all(times(2, () => strategy.reconcile(target, { olderThanMs: 0 })));
        const sum = (field: "givenBack" | "corrected") => twice.reduce((total, each) => total + each[field], 0);
        assert.equal(sum("givenBack"), arrives ? 0 : 1, "expected one give-back from two reconciliations");
        assert.equal(sum("corrected"), 0);
        assert.deepEqual(await strategy.drift(target), { counter: stock, stock, pending: 0, drift: 0 });
        const again = await buy(target, "buyer");
        assert.equal(again.status, arrives ? "already_claimed" : "sold");
        relay.heal();
      });
    }

    it("keeps a unit off sale after a crash before the order, until it is reconciled", async () => {
      const target = await product(2);
      await strategy.prepare(target, 2);
      const order = { strategyId: id, target, buyerIds: ["doomed"], holdMs: 0, waitTimeoutMs: 5_000 };
      const doomed = new StockProcess({ ...order, stopBeforeOrder: true });
      await waitUntil(() => doomed.has("ready"), { what: "the process" });
      doomed.go();
      await waitUntil(() => doomed.has("at the order"), { what: "the unit to leave the counter" });
      await doomed[Symbol.asyncDispose]();

      const outcomes = [await buy(target, "a"), await buy(target, "b")];
      assert.deepEqual([countOf(outcomes, "sold"), countOf(outcomes, "sold_out")], [1, 1]);
      assert.deepEqual(await strategy.drift(target), { counter: 0, stock: 1, pending: 1, drift: -1 });
      assert.deepEqual(await strategy.reconcile(target, { olderThanMs: 0 }), {
        kept: 0,
        givenBack: 1,
        pending: 0,
        corrected: 0,
      });
      assert.equal((await buy(target, "b")).status, "sold");
      assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 2 });
    });

    it("does not correct a counter beside a purchase that entered the journal after the snapshot", async () => {
      const target = await product(5);
      await strategy.prepare(target, 3);
      const counter = new RedisCounter(redis, target, id);
      const { left: read } = await counter.snapshot();
      // The purchase took a unit, and its order is not in PostgreSQL yet. Another purchase gave its unit back.
      await redis.hset(counterKeys(target).journal, "on-its-way", "1:1:buyer");
      assert.equal(await counter.correct(read ?? 0, 5), false);
      assert.equal(await left(target), 3);
      await redis.del(counterKeys(target).journal);
      assert.equal(await counter.correct((read ?? 0) + 1, 5), false, "expected no correction of a changed counter");
      assert.equal(await counter.correct(read ?? 0, 5), true);
      assert.equal(await left(target), 5);
    });

    it("subtracts the units in the journal when it initializes a lost counter", async () => {
      const target = await product(4);
      await redis.hset(counterKeys(target).journal, "on-its-way", "3:1:earlier-buyer");
      const outcomes = await Promise.all(times(2, (index) => buy(target, `b-${index}`)));
      assert.deepEqual([countOf(outcomes, "sold"), countOf(outcomes, "sold_out")], [1, 1]);
    });
  });
}

describe("redis-watch", () => {
  it("is contended when its wait timeout ends before a transaction succeeds", async () => {
    const locks = lockDependencies();
    await using strategy = createStockStrategy("redis-watch", { pool: postgresPool(), node: "counted-test", locks });
    const target = await product(1_000);
    await strategy.prepare?.(target, 1_000);
    const redis = new Redis(process.env.REDIS_URL ?? "");
    let isOver = false;
    const writeRepeatedly = async () => {
      while (!isOver) await redis.multi().incr(counterKeys(target).counter).decr(counterKeys(target).counter).exec();
    };
    const writer = writeRepeatedly();
    const trace = newTrace();
    const limits = { quantity: 1, runId: null, holdMs: 100, ttlMs: 5_000, waitTimeoutMs: 1_500 };
    const outcome = await strategy.reduceStock({ target, buyerId: "slow", ...limits, trace });
    isOver = true;
    await writer;
    redis.disconnect();
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, `expected several attempts, found ${trace.attempts}`);
    assert.deepEqual(await productFacts(target.id), { stock: 1_000, orders: 0 });
  });

  after(async () => {
    await closeLockClients();
    await postgresPool().end();
  });
});
