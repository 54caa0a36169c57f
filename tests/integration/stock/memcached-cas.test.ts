import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { systemClock } from "../../../lib/locks/clock";
import { isLockError } from "../../../lib/locks/errors";
import { openMemcached } from "../../../lib/locks/memcached/memcached-client";
import type { MemcachedCommands } from "../../../lib/locks/memcached/memcached-port";
import { systemRandom } from "../../../lib/locks/random";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { CounterQueries } from "../../../lib/stock/counter-queries";
import { MemcachedCas } from "../../../lib/stock/memcached-cas";
import { StockStore } from "../../../lib/stock/stock-store";
import type { OperationTrace, StockRequest, StockTarget } from "../../../lib/stock/types";
import { makeGate } from "../../support/gate";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnMemcached, startOwnMemcached } from "../../support/own-memcached";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "stock-test" });

const isGone = (error: unknown) =>
  isLockError(error) && error.code === "backend_unavailable" && /vanished/.test(error.message);

const dependencies = { clock: systemClock, random: systemRandom };

describe("memcached-cas", () => {
  let server: OwnMemcached;
  let client: MemcachedCommands;
  let strategy: MemcachedCas;
  let target: StockTarget;

  before(async () => {
    server = await startOwnMemcached();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await postgresPool().end();
  });
  beforeEach(() => {
    client = openMemcached(server.url);
    strategy = strategyOf(client);
  });
  afterEach(() => client[Symbol.asyncDispose]());

  const strategyOf = (commands: MemcachedCommands) =>
    new MemcachedCas({
      store: new StockStore(postgresPool(), "stock-test"),
      queries: new CounterQueries(postgresPool(), "memcached-cas"),
      client: commands,
      dependencies,
    });
  const counter = async () => (await client.gets(`stock:${target.kind}:${target.id}`))?.value ?? null;
  const newTrace = (): OperationTrace => ({ opId: `test-${randomUUID()}`, invokedNs: nowNs() });

  function buy(overrides: Partial<StockRequest> = {}) {
    const limits = { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 10_000 };
    const buyerId = `buyer-${randomUUID()}`;
    const request = { target, quantity: 1, buyerId, runId: null, ...limits, trace: newTrace(), ...overrides };
    return strategy.reduceStock(request);
  }

  async function product(stock: number): Promise<void> {
    target = { kind: "product", id: await makeProduct(stock) };
  }

  it("sells exactly the prepared stock in several quantities, and counter and row match", async () => {
    await product(20);
    await strategy.prepare(target, 20);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => buy({ quantity: 1 + (index % 2), runId: "test-run" })),
    );
    const { stock } = await productFacts(target.id);
    assert.equal(await counter(), String(stock));
    assert.ok(outcomes.every(({ status }) => status === "sold" || status === "sold_out"));
    assert.equal(stock, 0);
    const { rows } = await postgresPool().query("SELECT sum(quantity)::int AS sold FROM orders WHERE product_id = $1", [
      target.id,
    ]);
    assert.equal(rows[0]?.sold, 20);
  });

  it("overwrites an existing counter when it prepares a run", async () => {
    await product(3);
    await strategy.prepare(target, 7);
    await strategy.prepare(target, 3);
    assert.equal(await counter(), "3");
  });

  it("stops a run whose counter has vanished, and does not recreate the counter", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    assert.equal((await buy({ runId: "test-run" })).status, "sold");
    await server.send("flush_all");
    await assert.rejects(buy({ runId: "test-run" }), isGone);
    assert.equal(await counter(), null);
    assert.deepEqual(await productFacts(target.id), { stock: 4, orders: 1 });
  });

  it("stops a run whose counter vanishes between its read and its write", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    const purchase = buy({ runId: "test-run", holdMs: 300 });
    const refused = assert.rejects(purchase, isGone);
    await server.send("flush_all");
    await refused;
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  it("creates the counter from the row outside runs, also for a buyer with a wait timeout of 0", async () => {
    await product(2);
    assert.equal(await counter(), null);
    assert.equal((await buy({ waitTimeoutMs: 0 })).status, "sold");
    assert.equal(await counter(), "1");
    await server.send("flush_all");
    assert.equal((await buy()).status, "sold");
    assert.equal((await buy()).status, "sold_out");
    assert.deepEqual(await productFacts(target.id), { stock: 0, orders: 2 });
  });

  it("gives the unit of a duplicate click back", async () => {
    target = { kind: "coupon", id: await makeCoupon(5) };
    await strategy.prepare(target, 5);
    const clicks = await Promise.all(Array.from({ length: 4 }, () => buy({ buyerId: "greedy", runId: "test-run" })));
    assert.deepEqual(clicks.map(({ status }) => status).toSorted(), [
      "already_claimed",
      "already_claimed",
      "already_claimed",
      "sold",
    ]);
    assert.equal(await counter(), "4");
    assert.deepEqual(await couponFacts(target.id), { stock: 4, claims: 1 });
  });

  it("sells no unit that the row does not have, and gives the surplus back to the counter", async () => {
    await product(1);
    await strategy.prepare(target, 10);
    const outcomes = await Promise.all([buy({ runId: "test-run" }), buy({ runId: "test-run" })]);
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["sold", "sold_out"]);
    assert.equal(await counter(), "9");
  });

  it("gives the unit back when PostgreSQL refuses the order", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    // PostgreSQL rejects NUL in text, so the statement fails and changes nothing.
    const refused = buy({ runId: "test-run", trace: { ...newTrace(), opId: "\u0000" } });
    await assert.rejects(refused, (error) => isLockError(error) && error.isDefinite);
    assert.equal(await counter(), "5");
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  it("keeps the unit off the counter when the order may have been written", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    const blocker = await postgresPool().connect();
    await blocker.query("BEGIN");
    await blocker.query("SELECT 1 FROM products WHERE id = $1 FOR UPDATE", [target.id]);
    // The statement waits for the row lock until its time limit, so its outcome is unknown.
    const lost = buy({ runId: "test-run", waitTimeoutMs: 0 });
    await assert.rejects(lost, (error) => isLockError(error) && error.code === "outcome_unknown");
    await blocker.query("ROLLBACK");
    blocker.release();
    assert.equal(await counter(), "4");
  });

  it("reports the drift between counter and row, and repairs it when no purchase is in progress", async () => {
    await product(5);
    assert.deepEqual(await strategy.drift(target), { counter: null, stock: 5, pending: 0, drift: 0 });
    assert.equal((await strategy.reconcile(target)).corrected, 0);
    await strategy.prepare(target, 3);
    assert.deepEqual(await strategy.drift(target), { counter: 3, stock: 5, pending: 0, drift: -2 });
    assert.equal((await strategy.reconcile(target)).corrected, 2);
    assert.equal(await counter(), "5");
    await strategy.prepare(target, 9);
    assert.equal((await strategy.reconcile(target)).corrected, -4);
    assert.deepEqual(await strategy.drift(target), { counter: 5, stock: 5, pending: 0, drift: 0 });
  });

  it("leaves the counter alone while an order may be in progress, and gives the unit of a dead process back", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    const blocker = await postgresPool().connect();
    await blocker.query("BEGIN");
    await blocker.query("SELECT 1 FROM products WHERE id = $1 FOR UPDATE", [target.id]);
    const trace = newTrace();
    const lost = buy({ runId: "test-run", waitTimeoutMs: 0, trace });
    await waitUntil(async () => (await counter()) === "4", { what: "the unit to leave the counter" });
    const left = { kept: 0, givenBack: 0, pending: 1, corrected: 0 };
    assert.deepEqual(await strategy.reconcile(target), left, "the order may be in progress");
    await assert.rejects(lost, (error) => isLockError(error) && error.code === "outcome_unknown");
    assert.deepEqual(await strategy.reconcile(target), left, "the order may still be in progress");
    // The statement never got the row lock. Cancel it, as PostgreSQL does after the death of the client.
    await blocker.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%products%'`,
    );
    await blocker.query("ROLLBACK");
    blocker.release();
    const successor = strategyOf(client);
    assert.equal((await successor.reconcile(target, { isDead: (opId) => opId === trace.opId })).corrected, 1);
    assert.deepEqual(await successor.drift(target), { counter: 5, stock: 5, pending: 0, drift: 0 });
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  it("does not change the counter for buyers who already have a coupon", async () => {
    target = { kind: "coupon", id: await makeCoupon(2) };
    await strategy.prepare(target, 2);
    assert.equal((await buy({ buyerId: "greedy", runId: "test-run" })).status, "sold");
    const version = await client.gets(`stock:coupon:${target.id}`);
    const clicks = await Promise.all(Array.from({ length: 3 }, () => buy({ buyerId: "greedy", runId: "test-run" })));
    assert.deepEqual(new Set(clicks.map(({ status }) => status)), new Set(["already_claimed"]));
    assert.deepEqual(await client.gets(`stock:coupon:${target.id}`), version);
  });

  it("is contended when its wait timeout ends before a cas succeeds", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    let isOver = false;
    const writeRepeatedly = async () => {
      while (!isOver) await client.set({ key: `stock:product:${target.id}`, value: "5", expirySeconds: 60 });
    };
    const writer = writeRepeatedly();
    const trace = newTrace();
    // Another write comes between each read and its cas. The timeout allows a few attempts.
    const outcome = await buy({ runId: "test-run", holdMs: 100, waitTimeoutMs: 1_500, trace });
    isOver = true;
    await writer;
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, `expected several attempts, found ${trace.attempts}`);
    assert.equal(trace.writeAccepted, false);
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  it("fails with config_invalid when its key does not hold a number", async () => {
    await product(5);
    await client.set({ key: `stock:product:${target.id}`, value: "plenty", expirySeconds: 60 });
    await assert.rejects(buy(), (error) => isLockError(error) && error.code === "config_invalid");
  });

  it("reports Memcached as unavailable within its time limits when the server is stopped or dead", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    const isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";
    await server.pause();
    const startedMs = performance.now();
    await assert.rejects(buy({ runId: "test-run" }), isUnavailable);
    // A command ends after about 1.2 s. Without a limit it would wait until the server continues.
    assert.ok(performance.now() - startedMs < 20_000);
    server.resume();
    await server.kill();
    await assert.rejects(buy({ runId: "test-run" }), isUnavailable);
    await server.start();
    await assert.rejects(buy({ runId: "test-run" }), isGone);
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  describe("a purchase under way on another node", () => {
    /** A store node whose orders wait until `release` is called. */
    function slowNode(commands: MemcachedCommands) {
      const gate = makeGate();
      class SlowStore extends StockStore {
        override async run(...args: Parameters<StockStore["run"]>) {
          if (args[1].name === "takeGuarded" && isSlow) await gate.opened;
          return super.run(...args);
        }
      }
      let isSlow = false;
      const queries = new CounterQueries(postgresPool(), "memcached-cas");
      const store = new SlowStore(postgresPool(), "slow-node");
      const node = new MemcachedCas({ store, queries, client: commands, dependencies });
      const slowDown = () => {
        isSlow = true;
      };
      return { node, slowDown, release: gate.open };
    }

    for (const [loss, command] of [
      ["its index expired", () => `delete journal:product:${target.id}`],
      ["Memcached was flushed", () => "flush_all"],
    ] as const) {
      it(`is left alone by the settlement after ${loss}`, async () => {
        await product(20);
        const { node, slowDown, release } = slowNode(client);
        const sell = (runId: string | null = null) =>
          node.reduceStock({
            ...{ target, quantity: 1, buyerId: `buyer-${randomUUID()}`, runId, holdMs: 0, ttlMs: 5_000 },
            ...{ waitTimeoutMs: 10_000, trace: newTrace() },
          });
        await sell();
        await server.send(command());
        slowDown();
        const underWay = sell();
        await waitUntil(async () => (await counter()) === "18", { what: "the unit to leave the counter" });
        assert.deepEqual(await strategy.reconcile(target), { kept: 0, givenBack: 0, pending: 1, corrected: 0 });
        release();
        assert.equal((await underWay).status, "sold");
        assert.deepEqual(await strategy.drift(target), { counter: 18, stock: 18, pending: 0, drift: 0 });
      });
    }
  });

  it("hands its counter back after a run, so that it follows the row", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    await buy({ runId: "test-run" });
    await client.set({ key: `stock:product:${target.id}`, value: "0", expirySeconds: 900 });
    await strategy.handBack(target);
    assert.equal(await counter(), "4");
  });
});
