import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { postgresPool } from "../../../lib/services/postgres";
import { driftSchema } from "../../../lib/shop/api";
import { readProductOrders } from "../../../lib/shop/queries";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { buyAt, ShopNode, startShopNodes } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL", "REDIS_URL", "MEMCACHED_URL");
setEnv({ STORE_NODE: "expiry-test" });

after(() => postgresPool().end());

const HOUR_MS = 3_600_000;
/** More than two batches. */
const STOCK = 230;

/** Inserts unpaid orders that have taken their units. */
async function placeOrders(productId: number, count: number): Promise<void> {
  await postgresPool().query(
    `INSERT INTO orders (product_id, user_id, quantity, node, strategy, expires_at)
     SELECT $1, 'buyer-' || n, 1, 'expiry-test', 'test', now() + interval '15 minutes' FROM generate_series(1, $2) n`,
    [productId, count],
  );
  await postgresPool().query("UPDATE products SET stock = stock - $2 WHERE id = $1", [productId, count]);
}

describe("due orders", () => {
  let nodes: readonly ShopNode[] = [];
  before(async () => {
    nodes = await startShopNodes(["expiry-a", "expiry-b", "expiry-c"], "sql-guarded");
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  });

  for (const strategy of ["sql-guarded", "redis-lock"]) {
    it(`are expired once by three concurrent processes, one of them killed during the round, with ${strategy}`, async () => {
      const [victim, ...others] = nodes;
      assert.ok(victim);
      await Promise.all(nodes.map((node) => node.switchStrategy(strategy)));
      const later = Date.now() + HOUR_MS;
      // Expire the due orders of earlier tests, which would come first.
      await victim.expire(later);
      const productId = await makeProduct(STOCK);
      await placeOrders(productId, STOCK);
      assert.equal((await productFacts(productId)).stock, 0);

      // Stop the victim after its first batch, when it has selected the second.
      await victim.askInVain({ do: "expire", nowEpochMs: later, stopAtBatch: 1 });
      const halfWay = await readProductOrders(productId);
      assert.ok(
        halfWay.expiredUnits > 0 && halfWay.expiredUnits < STOCK,
        `expected some but not all of ${STOCK} units expired, found ${halfWay.expiredUnits}`,
      );
      const rounds = Promise.all(others.map((node) => node.expire(later)));
      await victim.kill();
      const expired = (await rounds).reduce((sum, round) => sum + round.expired, 0);
      await victim.start();
      await victim.expire(later);

      const { expiredUnits, pendingUnits } = await readProductOrders(productId);
      assert.deepEqual([expiredUnits, pendingUnits], [STOCK, 0]);
      assert.ok(
        expired >= STOCK - halfWay.expiredUnits,
        "expected the other nodes to expire the orders that the victim left",
      );
      assert.deepEqual((await productFacts(productId)).stock, STOCK, "expected each unit to be returned once");
    });
  }

  it("do not include orders of runs, which have no payment deadline", async () => {
    const productId = await makeProduct(1);
    await postgresPool().query(
      `INSERT INTO orders (product_id, user_id, quantity, node, strategy, run_id)
       VALUES ($1, 'load', 1, 'expiry-test', 'test', 'run-1')`,
      [productId],
    );
    await nodes[1]?.expire(Date.now() + 1_000 * HOUR_MS);
    assert.equal((await readProductOrders(productId)).pendingUnits, 1);
  });
});

describe("counter of a node that crashes between the counter and PostgreSQL", () => {
  async function driftAt(node: ShopNode, productId: number) {
    const drifts = driftSchema.array().parse(await node.ask({ do: "drift", productId }));
    return drifts.map(({ keptIn, pending, drift }) => ({ keptIn, pending, drift }));
  }

  for (const { strategy, keptIn } of [
    { strategy: "redis-decrement", keptIn: "redis" },
    { strategy: "redis-watch", keptIn: "redis" },
    { strategy: "memcached-cas", keptIn: "memcached" },
  ] as const) {
    it(`matches its row again after the node has restarted, with ${strategy}`, async () => {
      const name = `crash-${strategy}`;
      await using node = await ShopNode.start({ name, strategy, env: { SHOP_MAINTENANCE_EVERY_MS: "200" } });
      const productId = await makeProduct(10, { paymentWindowMs: 900_000, runId: null });
      const sold = await buyAt(node.url, { productId }, { userId: "a" });
      assert.equal(sold.status, 201);

      // A unit left the counter, and its order was not written.
      await node.ask({ do: "stop before the order" });
      const lost = buyAt(node.url, { productId }, { userId: "b" }).catch((error: Error) => error);
      await node.standsStill();
      assert.deepEqual(await driftAt(node, productId), [{ keptIn, pending: 1, drift: -1 }]);
      await node.kill();
      assert.ok((await lost) instanceof Error);
      await node.start();
      const settled = [{ keptIn, pending: 0, drift: 0 }];
      await waitUntil(async () => JSON.stringify(await driftAt(node, productId)) === JSON.stringify(settled), {
        what: "the journal to be settled",
        withinMs: 20_000,
      });

      // A unit was returned to PostgreSQL, and not yet to the counter.
      await node.ask({ do: "stop before the counter" });
      const order = { orderId: sold.body.order?.id ?? "", buyerId: "a" };
      await node.askInVain({ do: "cancel", orders: [order] });
      assert.deepEqual(await driftAt(node, productId), [{ keptIn, pending: 1, drift: -1 }]);
      await node.kill();
      await node.start();
      await waitUntil(async () => JSON.stringify(await driftAt(node, productId)) === JSON.stringify(settled), {
        what: "the returned unit to be on the counter",
        withinMs: 20_000,
      });
      assert.deepEqual(await productFacts(productId), { stock: 10, orders: 1 });
    });
  }
});
