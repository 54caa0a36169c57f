import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { currentNode } from "../../../lib/node/current-node";
import { setStock } from "../../../lib/runs/run-target";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { expireDueOrders } from "../../../lib/shop/expiry";
import { readProductOrders } from "../../../lib/shop/queries";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "unsettled-test", LOCK_STRATEGY: "sql-guarded" });

after(() => postgresPool().end());

const HOUR_MS = 3_600_000;
const MAX_INT = 2_147_483_647;

interface OrderValues {
  readonly buyerId: string;
  readonly quantity: number;
  readonly runId?: string;
  readonly stockTaken?: boolean;
}

/** Inserts orders that become due in this sequence. Orders of runs have no payment deadline. @returns their ids */
async function insertOrders(productId: number, orders: readonly OrderValues[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, { buyerId, quantity, runId = null, stockTaken = true }] of orders.entries()) {
    const { rows } = await postgresPool().query<{ id: string }>(
      `INSERT INTO orders (product_id, user_id, quantity, node, strategy, run_id, stock_taken, expires_at)
       VALUES ($1, $2, $3, 'unsettled-test', 'test', $4::text, $5,
         CASE WHEN $4::text IS NULL THEN now() + $6::int * interval '1 second' END) RETURNING id::text`,
      [productId, buyerId, quantity, runId, stockTaken, index],
    );
    ids.push(rows[0]?.id ?? "");
  }
  return ids;
}

async function countUnits(productId: number, buyerId: string, units: number): Promise<void> {
  await postgresPool().query(
    `INSERT INTO buyer_allowances (product_id, user_id, units, allowed) VALUES ($1, $2, $3, 5)
     ON CONFLICT (product_id, user_id) DO UPDATE SET units = EXCLUDED.units`,
    [productId, buyerId, units],
  );
}

async function countedUnits(productId: number): Promise<Record<string, number>> {
  const { rows } = await postgresPool().query<{ user_id: string; units: number }>(
    "SELECT user_id, units FROM buyer_allowances WHERE product_id = $1 ORDER BY user_id",
    [productId],
  );
  return Object.fromEntries(rows.map(({ user_id, units }) => [user_id, units]));
}

function startRunOn(productId: number): Promise<void> {
  return setStock(prisma(), { kind: "product", id: productId }, 4);
}

function expireAll() {
  return expireDueOrders(currentNode(), { now: new Date(Date.now() + HOUR_MS) });
}

describe("due orders that are difficult to settle", () => {
  it("return their units if a run has reset the allowances that counted them", async () => {
    await expireAll();
    const productId = await makeProduct(10, { limitPerUser: 5 });
    await insertOrders(productId, [
      { buyerId: "a", quantity: 1, runId: "earlier-run" },
      { buyerId: "a", quantity: 3 },
      { buyerId: "a", quantity: 1, stockTaken: false },
      { buyerId: "b", quantity: 2 },
    ]);
    for (const [buyerId, units] of [
      ["a", 5],
      ["b", 2],
    ] as const)
      await countUnits(productId, buyerId, units);
    await startRunOn(productId);
    // Buyer a has bought again since, and cancelled: the allowance exists and counts nothing.
    await countUnits(productId, "a", 0);

    const { expired, failures } = await expireAll();
    assert.deepEqual({ expired, failures }, { expired: 3, failures: [] });
    assert.equal((await productFacts(productId)).stock, 4 + 5);
    assert.deepEqual(await countedUnits(productId), { a: 0, b: 0 });
  });

  it("stay counted towards their buyer's limit when a run resets the units of earlier runs", async () => {
    const productId = await makeProduct(10, { limitPerUser: 5 });
    await insertOrders(productId, [
      { buyerId: "a", quantity: 2, runId: "earlier-run" },
      { buyerId: "a", quantity: 1 },
      { buyerId: "a", quantity: 2, stockTaken: false },
      { buyerId: "b", quantity: 4, runId: "earlier-run" },
    ]);
    await countUnits(productId, "a", 5);
    await countUnits(productId, "b", 4);
    await startRunOn(productId);
    assert.deepEqual(await countedUnits(productId), { a: 3, b: 0 });
    assert.equal((await expireAll()).expired, 2);
    assert.deepEqual(await countedUnits(productId), { a: 0, b: 0 });
  });

  it("do not block other orders of their product or of other products", async () => {
    await expireAll();
    const [product, other] = [await makeProduct(1), await makeProduct(1)];
    const [overflowing] = await insertOrders(product, [
      // The stock column cannot hold the sum, so PostgreSQL refuses the statement.
      { buyerId: "a", quantity: MAX_INT },
      { buyerId: "b", quantity: 1 },
      { buyerId: "c", quantity: 2 },
    ]);
    await insertOrders(other, [{ buyerId: "d", quantity: 1 }]);

    const { expired, failures } = await expireAll();
    assert.equal(expired, 3, failures.join("\n"));
    assert.equal(failures.length, 1, failures.join("\n"));
    assert.match(
      failures[0] ?? "",
      new RegExp(`^order ${overflowing} of product ${product} could not be expired: .*out of range`),
    );
    assert.equal((await productFacts(product)).stock, 4);
    assert.equal((await readProductOrders(other)).pendingUnits, 0);
    await postgresPool().query("UPDATE orders SET status = 'cancelled' WHERE id = $1", [overflowing]);
  });
});
