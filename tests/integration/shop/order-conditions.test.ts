import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { currentNode } from "../../../lib/node/current-node";
import { nowNs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { claimKey, settleClaim } from "../../../lib/shop/idempotency-keys";
import { payOrder } from "../../../lib/shop/pay-order";
import { isShopError } from "../../../lib/shop/shop-error";
import { END_WITHOUT_STOCK } from "../../../lib/stock/release-sql";
import { SqlGuarded } from "../../../lib/stock/sql-guarded";
import { StockStore } from "../../../lib/stock/stock-store";
import type { StockOutcome } from "../../../lib/stock/types";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";

/** Each condition of the statements that end, pay and settle orders, and of the one that keeps an answer. */

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "conditions-test", LOCK_STRATEGY: "sql-guarded" });

after(async () => {
  await currentNode()[Symbol.asyncDispose]();
  await postgresPool().end();
});

const BUYER = "visitor-1";
const HOUR_MS = 3_600_000;
const STOCK = 5;

interface OrderRow {
  readonly status?: "pending" | "paid" | "cancelled";
  readonly stockTaken?: boolean;
  readonly quantity?: number;
  /** In milliseconds from now; null: no payment deadline. */
  readonly dueInMs?: number | null;
}

/** @returns the id of a new order of one unit */
async function insertOrder(productId: number, row: OrderRow = {}): Promise<string> {
  const { status = "pending", stockTaken = true, quantity = 1, dueInMs = HOUR_MS } = row;
  const { rows } = await postgresPool().query<{ id: string }>(
    `INSERT INTO orders (product_id, user_id, quantity, node, strategy, status, stock_taken, expires_at)
     VALUES ($1, $2, $3, 'conditions-test', 'test', $4, $5, now() + $6::float8 * interval '1 millisecond')
     RETURNING id::text`,
    [productId, BUYER, quantity, status, stockTaken, dueInMs],
  );
  return rows[0]?.id ?? "";
}

async function stateOf(orderId: string): Promise<{ status: string; stockTaken: boolean }> {
  const { rows } = await postgresPool().query<{ status: string; stockTaken: boolean }>(
    `SELECT status, stock_taken AS "stockTaken" FROM orders WHERE id = $1`,
    [orderId],
  );
  return rows[0] ?? { status: "gone", stockTaken: false };
}

let strategy: SqlGuarded;
before(() => {
  strategy = new SqlGuarded(new StockStore(postgresPool(), "conditions-test"));
});

const limitsOf = () => ({
  ttlMs: 5_000,
  waitTimeoutMs: 1_000,
  trace: { opId: `conditions-${randomUUID()}`, invokedNs: nowNs() },
});

/** Purchases the units of an order that was placed without units. */
function settle(productId: number, orderId: string, by: { buyerId?: string; quantity?: number } = {}) {
  const target = { kind: "product", id: productId } as const;
  const order = { kind: "pending", orderId } as const;
  const request = { target, order, quantity: by.quantity ?? 1, buyerId: by.buyerId ?? BUYER, runId: null, holdMs: 0 };
  return strategy.reduceStock({ ...request, ...limitsOf() }).then(({ status }: StockOutcome) => status);
}

/** Ends the order as a payment that arrived too late would. @returns how many orders ended */
async function giveBack(productId: number, orderId: string, dueBefore: Date | null = null): Promise<number> {
  const target = { kind: "product", id: productId } as const;
  const orders = [{ orderId, buyerId: BUYER, quantity: 1 }];
  const ending = { target, orders, as: "expired", reason: null, dueBefore } as const;
  const outcome = await strategy.giveBack({ ...ending, ...limitsOf() });
  assert.equal(outcome.status, "released");
  return outcome.status === "released" ? outcome.orders.length : 0;
}

async function endWithoutStock(orderId: string, dueBefore: Date | null = null): Promise<number> {
  const { rows } = await postgresPool().query(END_WITHOUT_STOCK, [[orderId], "expired", null, dueBefore, "end-1"]);
  return rows.length;
}

describe("the statement that returns units", () => {
  it("returns none for an order that took none, because they would be units that do not exist", async () => {
    const productId = await makeProduct(STOCK);
    const orderId = await insertOrder(productId, { stockTaken: false });
    assert.equal(await giveBack(productId, orderId), 0);
    assert.deepEqual(
      [(await productFacts(productId)).stock, await stateOf(orderId)],
      [STOCK, { status: "pending", stockTaken: false }],
    );
  });

  it("returns none for an order that is paid or has ended, so that a unit comes back once", async () => {
    const productId = await makeProduct(STOCK);
    for (const status of ["paid", "cancelled"] as const)
      assert.equal(await giveBack(productId, await insertOrder(productId, { status })), 0, status);
    const orderId = await insertOrder(productId);
    assert.deepEqual([await giveBack(productId, orderId), await giveBack(productId, orderId)], [1, 0]);
    assert.equal((await productFacts(productId)).stock, STOCK + 1);
  });

  it("ends only orders whose deadline has passed, also if the list is old", async () => {
    const productId = await makeProduct(STOCK);
    const orderId = await insertOrder(productId);
    assert.equal(await giveBack(productId, orderId, new Date()), 0);
    assert.equal(await giveBack(productId, orderId, new Date(Date.now() + 2 * HOUR_MS)), 1);
  });
});

describe("the statement that ends orders without units", () => {
  it("leaves an order alone that took units, because those units would be lost", async () => {
    const productId = await makeProduct(STOCK);
    const orderId = await insertOrder(productId, { stockTaken: true });
    assert.equal(await endWithoutStock(orderId), 0);
    assert.deepEqual(await stateOf(orderId), { status: "pending", stockTaken: true });
  });

  it("leaves a paid order alone, and one whose deadline has not passed", async () => {
    const productId = await makeProduct(STOCK);
    assert.equal(await endWithoutStock(await insertOrder(productId, { stockTaken: false, status: "paid" })), 0);
    const orderId = await insertOrder(productId, { stockTaken: false });
    assert.equal(await endWithoutStock(orderId, new Date()), 0);
    assert.equal(await endWithoutStock(orderId), 1);
  });
});

describe("the statement that takes the units of an order at its payment", () => {
  const taken = async (productId: number) => STOCK - (await productFacts(productId)).stock;

  it("pays the order and takes its units once", async () => {
    const productId = await makeProduct(STOCK);
    const orderId = await insertOrder(productId, { stockTaken: false });
    assert.equal(await settle(productId, orderId), "sold");
    assert.deepEqual(await stateOf(orderId), { status: "paid", stockTaken: true });
    assert.equal(await settle(productId, orderId), "sold_out");
    assert.equal(await taken(productId), 1);
  });

  for (const [what, row, by] of [
    ["that took its units when it was placed, because they would be taken twice", { stockTaken: true }, {}],
    ["that has ended", { status: "cancelled", stockTaken: false }, {}],
    ["whose payment deadline has passed", { stockTaken: false, dueInMs: -1 }, {}],
    ["of another buyer", { stockTaken: false }, { buyerId: "visitor-2" }],
    ["of another quantity", { stockTaken: false, quantity: 2 }, {}],
  ] as const)
    it(`takes nothing for an order ${what}`, async () => {
      const productId = await makeProduct(STOCK);
      const orderId = await insertOrder(productId, row);
      const before = await stateOf(orderId);
      assert.equal(await settle(productId, orderId, by), "sold_out");
      assert.deepEqual([await taken(productId), await stateOf(orderId)], [0, before]);
    });

  it("takes nothing from a product that the order is not for", async () => {
    const [productId, otherId] = [await makeProduct(STOCK), await makeProduct(STOCK)];
    const orderId = await insertOrder(productId, { stockTaken: false });
    assert.equal(await settle(otherId, orderId), "sold_out");
    assert.deepEqual([await taken(otherId), (await stateOf(orderId)).status], [0, "pending"]);
  });

  it("takes an order without a payment deadline", async () => {
    const productId = await makeProduct(STOCK);
    assert.equal(await settle(productId, await insertOrder(productId, { stockTaken: false, dueInMs: null })), "sold");
  });
});

describe("the payment of an order that has its units", () => {
  it("is rejected after the deadline on the clock of PostgreSQL, whose units may be on sale again", async (t) => {
    const productId = await makeProduct(STOCK);
    const orderId = await insertOrder(productId, { dueInMs: -1 });
    // The clock of the store node is behind, so that the node still takes the order for payable.
    const behindMs = Date.now() - HOUR_MS;
    t.mock.method(Date, "now", () => behindMs);
    const paying = payOrder(currentNode(), { orderId, buyerId: BUYER }, { outcome: "succeed" });
    await assert.rejects(paying, (error) => isShopError(error) && error.options.code === "order_expired");
    assert.equal((await stateOf(orderId)).status, "pending");
  });

  for (const [what, change] of [
    ["ended", "status = 'cancelled', ended_at = now()"],
    ["was paid", "status = 'paid', paid_at = now()"],
    ["lost its units", "stock_taken = false"],
  ] as const)
    it(`changes nothing if the order ${what} after it was read`, async (t) => {
      const orderId = await insertOrder(await makeProduct(STOCK));
      const pool = postgresPool();
      const query = pool.query.bind(pool) as (text: string, values: readonly unknown[]) => Promise<unknown>;
      t.mock.method(pool, "query", async (text: string, values: readonly unknown[]) => {
        if (text.includes("SET status = 'paid'")) await query(`UPDATE orders SET ${change} WHERE id = $1`, [orderId]);
        return query(text, values);
      });
      await assert.rejects(payOrder(currentNode(), { orderId, buyerId: BUYER }, { outcome: "succeed" }), isShopError);
    });

  it("succeeds before the deadline, and without one", async () => {
    const productId = await makeProduct(STOCK);
    for (const dueInMs of [HOUR_MS, null]) {
      const orderId = await insertOrder(productId, { dueInMs });
      const { status } = await payOrder(currentNode(), { orderId, buyerId: BUYER }, { outcome: "succeed" });
      assert.equal(status, "paid");
    }
  });
});

describe("an idempotency key whose claim was taken over", () => {
  const answerOf = (status: number, body: string) =>
    ({ answer: { status, headers: {}, body }, kind: "final" }) as const;

  /** Two requests with one key: the claim of the first expires, and the second takes it over. */
  async function takeOver() {
    const name = [BUYER, "products/1/reduce-stock", randomUUID()] as const;
    const first = { name, claimId: randomUUID() };
    const second = { name, claimId: randomUUID() };
    assert.equal((await claimKey(name, "hash", first.claimId)).state, "claimed");
    await postgresPool().query("UPDATE idempotency_keys SET claimed_until = now() WHERE key = $1", [name[2]]);
    const taken = await claimKey(name, "hash", second.claimId);
    assert.deepEqual(taken, { state: "claimed", isTakenOver: true });
    const kept = async () => {
      const found = await claimKey(name, "hash", randomUUID());
      return found.state === "answered" ? [found.answer.status, found.answer.body] : found.state;
    };
    return { first, second, kept };
  }

  it("keeps the order of the first request when the second is then rejected because of it", async () => {
    const { first, second, kept } = await takeOver();
    assert.equal(await settleClaim(first, answerOf(201, "order 1")), true);
    assert.equal(await settleClaim(second, answerOf(409, "limit reached")), false);
    assert.deepEqual(await kept(), [201, "order 1"]);
  });

  it("replaces the rejection of the second request with the order of the first", async () => {
    const { first, second, kept } = await takeOver();
    assert.equal(await settleClaim(second, answerOf(409, "limit reached")), true);
    assert.equal(await settleClaim(first, answerOf(201, "order 1")), true);
    assert.deepEqual(await kept(), [201, "order 1"]);
  });

  it("keeps the first of two orders' answers, so that an answer never changes once a buyer has it", async () => {
    const { first, second, kept } = await takeOver();
    assert.equal(await settleClaim(second, answerOf(201, "as the second tells it")), true);
    assert.equal(await settleClaim(first, answerOf(201, "as the first tells it")), false);
    assert.deepEqual(await kept(), [201, "as the second tells it"]);
  });

  it("does not keep a rejection of the first request, whose claim is gone", async () => {
    const { first, second, kept } = await takeOver();
    assert.equal(await settleClaim(first, answerOf(409, "sold out")), false);
    assert.equal(await kept(), "running");
    assert.equal(await settleClaim(second, answerOf(201, "order 1")), true);
    assert.deepEqual(await kept(), [201, "order 1"]);
  });
});
