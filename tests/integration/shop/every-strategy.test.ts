import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { closeLockClients, lockDependencies } from "../../../lib/node/lock-dependencies";
import { StoreNode } from "../../../lib/node/store-node";
import { postgresPool } from "../../../lib/services/postgres";
import { driftOf } from "../../../lib/shop/counters";
import { expireDueOrders } from "../../../lib/shop/expiry";
import { cancelOrder, payOrder } from "../../../lib/shop/pay-order";
import { type OrderRequest, placeOrder } from "../../../lib/shop/place-order";
import { readProductOrders } from "../../../lib/shop/queries";
import { isShopError } from "../../../lib/shop/shop-error";
import { targetTerms } from "../../../lib/shop/terms";
import { createStockStrategy, stockStrategies } from "../../../lib/stock/stock-strategies";
import { serverKinds } from "../../../servers/all-servers";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeCoupon, makeProduct, type ProductTerms, productFacts } from "../../support/rows";

requireEnv(...serverKinds.map(({ variable }) => variable));
setEnv({ STORE_NODE: "shop-test" });

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, () => make());

after(async () => {
  await closeLockClients();
  await postgresPool().end();
});

/** Long enough that a cancellation finishes between a purchase's read and its write. */
const HOLD_MS = 120;

for (const [strategy, { traits }] of stockStrategies) {
  describe(`shop with ${strategy}`, () => {
    let node: StoreNode;
    let slow: StoreNode;
    const newNode = (holdMs: number) =>
      new StoreNode({
        name: "shop-test",
        activeStrategy: strategy,
        createStrategy: (id) =>
          createStockStrategy(id, { pool: postgresPool(), node: "shop-test", locks: lockDependencies() }),
        defaults: { holdMs, ttlMs: 5_000, waitTimeoutMs: 10_000 },
      });
    before(() => {
      node = newNode(0);
      slow = newNode(HOLD_MS);
    });
    after(() => Promise.all([node[Symbol.asyncDispose](), slow[Symbol.asyncDispose]()]));

    async function place(fields: Pick<OrderRequest, "target" | "buyerId"> & Partial<OrderRequest>, by = node) {
      const terms = await targetTerms(fields.target);
      assert.ok(terms);
      const request = { quantity: 1, purchaseToken: null, idempotencyKey: null, ...fields };
      return (await placeOrder(by, request, { terms, plan: by.plan(request.target) })).outcome;
    }
    const createProduct = async (stock: number, terms: ProductTerms) =>
      ({ kind: "product", id: await makeProduct(stock, terms) }) as const;
    async function placeSold(fields: Parameters<typeof place>[0]): Promise<{ orderId: string; buyerId: string }> {
      const outcome = await place(fields);
      assert.equal(outcome.status, "sold");
      return { orderId: outcome.status === "sold" ? outcome.orderId : "", buyerId: fields.buyerId };
    }
    const isRejectedWith = (code: string) => (error: unknown) => isShopError(error) && error.options.code === code;
    const assertNoDrift = async (target: Parameters<typeof driftOf>[1]) =>
      assert.ok((await driftOf(node, target)).every(({ drift, pending }) => drift === 0 && pending === 0));

    it("takes the units with the order, and returns them if the order is cancelled or expires", async () => {
      const target = await createProduct(5, { limitPerUser: 3 });
      const [paid, cancelled] = [await placeSold({ target, buyerId: "a" }), await placeSold({ target, buyerId: "b" })];
      await placeSold({ target, buyerId: "c", quantity: 2 });
      assert.equal((await productFacts(target.id)).stock, 1);
      assert.equal((await payOrder(node, paid, { outcome: "succeed" })).status, "paid");
      assert.equal((await cancelOrder(node, cancelled)).status, "cancelled");
      assert.equal((await productFacts(target.id)).stock, 2);
      await assert.rejects(cancelOrder(node, paid), isRejectedWith("order_not_pending"));
      await expireDueOrders(node, { now: new Date(Date.now() + 3_600_000) });
      assert.equal((await productFacts(target.id)).stock, 4);
      const { paidUnits, cancelledUnits, expiredUnits, pendingUnits } = await readProductOrders(target.id);
      assert.deepEqual([paidUnits, cancelledUnits, expiredUnits, pendingUnits], [1, 1, 2, 0]);
      await assertNoDrift(target);
    });

    // An in-process mutex does not guard against the second node.
    const itWhereSafe = traits.expected.threeNodes === "safe" ? it : () => {};
    itWhereSafe("loses no unit if an order is cancelled while another unit is being sold", async () => {
      const target = await createProduct(5, {});
      const order = await placeSold({ target, buyerId: "a" });
      const [sold, cancelled] = await Promise.all([place({ target, buyerId: "b" }, slow), cancelOrder(node, order)]);
      assert.deepEqual([sold.status, cancelled.status], ["sold", "cancelled"]);
      assert.equal((await productFacts(target.id)).stock, 4);
      await assertNoDrift(target);
    });

    it("takes the units at payment if the product says so, and rejects a payment when it is sold out", async () => {
      const target = await createProduct(2, { stockOn: "payment", limitPerUser: 1 });
      const orders: { orderId: string; buyerId: string }[] = [];
      for (const buyerId of ["a", "b", "c"]) orders.push(await placeSold({ target, buyerId }));
      assert.equal((await productFacts(target.id)).stock, 2, "expected an order to reserve no stock");
      const [first, second, third] = orders;
      assert.ok(first && second && third);
      await assert.rejects(payOrder(node, first, { outcome: "fail" }), isRejectedWith("payment_failed"));
      assert.equal((await payOrder(node, first, { outcome: "succeed" })).status, "paid");
      await assert.rejects(payOrder(node, first, { outcome: "succeed" }), isRejectedWith("order_not_pending"));
      assert.equal((await payOrder(node, second, { outcome: "succeed" })).status, "paid");
      await assert.rejects(payOrder(node, third, { outcome: "succeed" }), isRejectedWith("sold_out"));
      const { paidUnits, waitingUnits, failedPayments, soldOutAtPayment } = await readProductOrders(target.id);
      assert.deepEqual([paidUnits, waitingUnits, failedPayments, soldOutAtPayment], [2, 0, 1, 1]);
      assert.equal((await productFacts(target.id)).stock, 0);
      await assertNoDrift(target);
    });

    itWhereSafe("lets one of several concurrent payments and cancellations of an order succeed", async () => {
      const target = await createProduct(5, { stockOn: "payment" });
      const order = await placeSold({ target, buyerId: "a" });
      const pay = () => payOrder(node, order, { outcome: "succeed" });
      const outcomes = await Promise.allSettled([pay(), pay(), cancelOrder(node, order), pay()]);
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
      const { paidUnits, pendingUnits } = await readProductOrders(target.id);
      assert.equal(pendingUnits, 0);
      assert.equal((await productFacts(target.id)).stock, 5 - paidUnits);
      await assertNoDrift(target);
    });

    it("sells no buyer more than the limit in concurrent purchases, and keeps the rest on sale", async () => {
      const target = await createProduct(6, { limitPerUser: 2 });
      const clicks = await Promise.all(times(6, () => place({ target, buyerId: "eager" })));
      const sold = clicks.filter(({ status }) => status === "sold").length;
      assert.ok(sold >= 1 && sold <= 2, `expected 1 or 2 units sold, found ${sold}`);
      const { rows } = await postgresPool().query(
        "SELECT sum(quantity)::int AS units FROM orders WHERE product_id = $1",
        [target.id],
      );
      assert.equal(rows[0]?.units, sold);
      assert.ok(clicks.every(({ status }) => ["sold", "limit_reached", "contended"].includes(status)));
      const others = [await place({ target, buyerId: "b" }), await place({ target, buyerId: "c" })];
      assert.deepEqual(
        others.map(({ status }) => status),
        ["sold", "sold"],
      );
      await assertNoDrift(target);
    });

    it("gives a buyer one coupon in concurrent claims, and keeps the rest available", async () => {
      const target = { kind: "coupon", id: await makeCoupon(3) } as const;
      const clicks = await Promise.all(times(5, () => place({ target, buyerId: "eager" })));
      assert.equal(clicks.filter(({ status }) => status === "sold").length, 1);
      assert.equal((await place({ target, buyerId: "b" })).status, "sold");
      await assertNoDrift(target);
    });
  });
}
