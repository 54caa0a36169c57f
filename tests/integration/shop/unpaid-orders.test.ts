import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { postgresPool } from "../../../lib/services/postgres";
import { readProductOrders } from "../../../lib/shop/queries";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "unpaid-test" });

const STOCK = 40;
const HOUR_MS = 3_600_000;
/** Time between a lock holder's read and write, in which an unguarded return of units would be lost. */
const HOLD_MS = "10";

describe("unpaid orders", () => {
  let nodes: readonly ShopNode[] = [];
  before(async () => {
    nodes = await startShopNodes(["unpaid-a", "unpaid-b", "unpaid-c"], "sql-guarded", { env: { HOLD_MS } });
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  for (const strategy of ["sql-guarded", "redis-lock", "redis-decrement", "zk-mutex"]) {
    it(`end with every unit either paid or on sale again while buyers continue to order, with ${strategy}`, async () => {
      await Promise.all(nodes.map((node) => node.switchStrategy(strategy)));
      const productId = await makeProduct(STOCK, { paymentWindowMs: 900_000 });
      const nodeOf = (index: number) => nodes[index % nodes.length] as ShopNode;
      const buy = async (index: number) => {
        const { status, body } = await buyAt(nodeOf(index).url, { productId }, { userId: `buyer-${index}` });
        return status === 201 ? [{ orderId: body.order?.id ?? "", buyerId: `buyer-${index}` }] : [];
      };
      const sell = async (from: number, count: number) =>
        (await Promise.all(Array.from({ length: count }, (_, index) => buy(from + index)))).flat();

      const orders = await sell(0, STOCK + 10);
      assert.equal(orders.length, STOCK);
      const paid = await nodeOf(0).ask({ do: "pay", orders: orders.slice(0, 10) });
      assert.deepEqual(paid, Array(10).fill("paid"));
      const cancelled = await nodeOf(1).ask({ do: "cancel", orders: orders.slice(10, 15) });
      assert.deepEqual(cancelled, Array(5).fill("cancelled"));
      assert.equal((await productFacts(productId)).stock, 5);

      // All nodes expire orders as of one hour later while new buyers order the returned units.
      const later = Date.now() + HOUR_MS;
      const [late, ...rounds] = await Promise.all([sell(100, 12), ...nodes.map((node) => node.expire(later))]);
      const expired = rounds.reduce((sum, round) => sum + round.expired, 0);
      assert.ok(expired >= 25, `expected at least 25 expired orders, found ${expired}: ${JSON.stringify(rounds)}`);
      assert.ok(late.length >= 5, `expected at least 5 late orders, found ${late.length}`);

      // One late buyer pays, the others do not.
      await nodeOf(2).ask({ do: "pay", orders: late.slice(0, 1) });
      const leftToExpire = async () => (await readProductOrders(productId)).pendingUnits > 0;
      for (let round = 0; round < 10 && (await leftToExpire()); round += 1) await nodeOf(round).expire(later);

      const { paidUnits, pendingUnits } = await readProductOrders(productId);
      const { stock } = await productFacts(productId);
      assert.equal(pendingUnits, 0);
      assert.equal(
        stock + paidUnits,
        STOCK,
        `expected ${STOCK} units in total, found ${stock} on sale and ${paidUnits} paid`,
      );
      for (const { settled, failed } of await Promise.all(nodes.map((node) => node.reconcile()))) {
        assert.ok(!failed.some((reason) => reason.includes(`product:${productId}:`)), failed.join());
        const mine = settled.filter(({ target }) => target.id === productId);
        assert.ok(mine.every(({ corrected, givenBack, pending }) => corrected === 0 && givenBack + pending === 0));
      }
    });
  }
});
