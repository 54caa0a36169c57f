import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
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
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnMemcached, startOwnMemcached } from "../../support/own-memcached";
import { couponFacts, makeCoupon, makeProduct, productFacts } from "../../support/rows";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "stock-test" });

const isGone = (error: unknown) =>
  isLockError(error) && error.code === "backend_unavailable" && /vanished/.test(error.message);

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
      random: systemRandom.fraction,
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

  it("sells exactly what was prepared, in several sizes, and the counter agrees with the row", async () => {
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

  it("prepares over whatever counter there was", async () => {
    await product(3);
    await strategy.prepare(target, 7);
    await strategy.prepare(target, 3);
    assert.equal(await counter(), "3");
  });

  it("stops a run whose counter has vanished, and makes no new one", async () => {
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

  it("makes the counter from the row outside of runs, also for a buyer who may not wait", async () => {
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

  it("sells nothing that the row does not have, and gives back what the counter had too much", async () => {
    await product(1);
    await strategy.prepare(target, 10);
    const outcomes = await Promise.all([buy({ runId: "test-run" }), buy({ runId: "test-run" })]);
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["sold", "sold_out"]);
    assert.equal(await counter(), "9");
  });

  it("gives the unit back when PostgreSQL refuses the order", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    // PostgreSQL takes no NUL in a text: it refuses the statement, and changes nothing.
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
    // The statement stands in the row's queue until its own limit is over; nobody can tell what became of it.
    const lost = buy({ runId: "test-run", waitTimeoutMs: 0 });
    await assert.rejects(lost, (error) => isLockError(error) && error.code === "outcome_unknown");
    await blocker.query("ROLLBACK");
    blocker.release();
    assert.equal(await counter(), "4");
  });

  it("tells how far counter and row have drifted apart, and brings them together when nobody is in between", async () => {
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

  it("leaves the counter alone while an order is on its way, and puts the unit of a lost process back", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    const blocker = await postgresPool().connect();
    await blocker.query("BEGIN");
    await blocker.query("SELECT 1 FROM products WHERE id = $1 FOR UPDATE", [target.id]);
    const trace = newTrace();
    const lost = buy({ runId: "test-run", waitTimeoutMs: 0, trace });
    await waitUntil(async () => (await counter()) === "4", { what: "the unit to leave the counter" });
    const left = { kept: 0, givenBack: 0, pending: 1, corrected: 0 };
    assert.deepEqual(await strategy.reconcile(target), left, "the order may be on its way");
    await assert.rejects(lost, (error) => isLockError(error) && error.code === "outcome_unknown");
    assert.deepEqual(await strategy.reconcile(target), left, "it may still be");
    // Its statement never got the row: the process that sent it is gone, and PostgreSQL ends what it left.
    await blocker.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%products%'`,
    );
    await blocker.query("ROLLBACK");
    blocker.release();
    const successor = strategyOf(client);
    assert.equal((await successor.reconcile(target, { isDead: (opId) => opId === trace.opId })).corrected, 1);
    assert.deepEqual(await successor.drift(target), { counter: 5, stock: 5, pending: 0, drift: 0 });
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  it("does not touch the counter for buyers who have theirs", async () => {
    target = { kind: "coupon", id: await makeCoupon(2) };
    await strategy.prepare(target, 2);
    assert.equal((await buy({ buyerId: "greedy", runId: "test-run" })).status, "sold");
    const version = await client.gets(`stock:coupon:${target.id}`);
    const clicks = await Promise.all(Array.from({ length: 3 }, () => buy({ buyerId: "greedy", runId: "test-run" })));
    assert.deepEqual(new Set(clicks.map(({ status }) => status)), new Set(["already_claimed"]));
    assert.deepEqual(await client.gets(`stock:coupon:${target.id}`), version);
  });

  it("answers contended when its time is over before a write of its own holds", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    let over = false;
    const spoil = async () => {
      while (!over) await client.set({ key: `stock:product:${target.id}`, value: "5", expirySeconds: 60 });
    };
    const spoiler = spoil();
    const trace = newTrace();
    // Somebody else's write comes between every read and its write, and there is time for a few tries.
    const outcome = await buy({ runId: "test-run", holdMs: 100, waitTimeoutMs: 1_500, trace });
    over = true;
    await spoiler;
    assert.equal(outcome.status, "contended");
    assert.ok((trace.attempts ?? 0) > 1, "it tried once only");
    assert.equal(trace.writeAccepted, false);
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });

  it("says what is under its key when that is no number", async () => {
    await product(5);
    await client.set({ key: `stock:product:${target.id}`, value: "plenty", expirySeconds: 60 });
    await assert.rejects(buy(), (error) => isLockError(error) && error.code === "config_invalid");
  });

  it("names Memcached as unavailable, within its limits, when it is stopped or gone", async () => {
    await product(5);
    await strategy.prepare(target, 5);
    const isUnavailable = (error: unknown) => isLockError(error) && error.code === "backend_unavailable";
    server.pause();
    const startedMs = performance.now();
    await assert.rejects(buy({ runId: "test-run" }), isUnavailable);
    // A command ends after some 1.2 s; without a limit it would wait for as long as the server is stopped.
    assert.ok(performance.now() - startedMs < 20_000);
    server.resume();
    await server.kill();
    await assert.rejects(buy({ runId: "test-run" }), isUnavailable);
    await server.start();
    await assert.rejects(buy({ runId: "test-run" }), isGone);
    assert.deepEqual(await productFacts(target.id), { stock: 5, orders: 0 });
  });
});
