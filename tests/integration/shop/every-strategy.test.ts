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

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

after(async () => {
  await closeLockClients();
  await postgresPool().end();
});

/** Long enough for a unit to come back between a purchase's read and its write. */
const HOLD_MS = 120;

for (const [strategy, { traits }] of stockStrategies) {
  describe(`the shop under ${strategy}`, () => {
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

    async function place(wish: Pick<OrderRequest, "target" | "buyerId"> & Partial<OrderRequest>, by = node) {
      const terms = await targetTerms(wish.target);
      assert.ok(terms);
      const defaults = { quantity: 1, purchaseToken: null, idempotencyKey: null };
      const request = { ...defaults, ...wish };
      return (await placeOrder(by, request, { terms, plan: by.plan(request.target) })).outcome;
    }
    const product = async (stock: number, terms: ProductTerms) =>
      ({ kind: "product", id: await makeProduct(stock, terms) }) as const;
    async function placed(wish: Parameters<typeof place>[0]): Promise<{ orderId: string; buyerId: string }> {
      const outcome = await place(wish);
      assert.equal(outcome.status, "sold");
      return { orderId: outcome.status === "sold" ? outcome.orderId : "", buyerId: wish.buyerId };
    }
    const refused = (code: string) => (error: unknown) => isShopError(error) && error.options.code === code;
    const noDrift = async (target: Parameters<typeof driftOf>[1]) =>
      assert.ok((await driftOf(node, target)).every(({ drift, pending }) => drift === 0 && pending === 0));

    it("takes the units with the order, and returns those of orders that are cancelled or expire", async () => {
      const target = await product(5, { limitPerUser: 3 });
      const [paid, cancelled] = [await placed({ target, buyerId: "a" }), await placed({ target, buyerId: "b" })];
      await placed({ target, buyerId: "c", quantity: 2 });
      assert.equal((await productFacts(target.id)).stock, 1);
      assert.equal((await payOrder(node, paid, { outcome: "succeed" })).status, "paid");
      assert.equal((await cancelOrder(node, cancelled)).status, "cancelled");
      assert.equal((await productFacts(target.id)).stock, 2);
      await assert.rejects(cancelOrder(node, paid), refused("order_not_pending"));
      await expireDueOrders(node, { now: new Date(Date.now() + 3_600_000) });
      assert.equal((await productFacts(target.id)).stock, 4);
      const { paidUnits, cancelledUnits, expiredUnits, pendingUnits } = await readProductOrders(target.id);
      assert.deepEqual([paidUnits, cancelledUnits, expiredUnits, pendingUnits], [1, 1, 2, 0]);
      await noDrift(target);
    });

    // A mutex in the process guards among those who share it; the two nodes do not.
    const itWhereSafe = traits.expected.threeNodes === "safe" ? it : () => {};
    itWhereSafe("loses neither a unit that comes back while another is being sold, nor that one", async () => {
      const target = await product(5, {});
      const order = await placed({ target, buyerId: "a" });
      const [sold, cancelled] = await Promise.all([place({ target, buyerId: "b" }, slow), cancelOrder(node, order)]);
      assert.deepEqual([sold.status, cancelled.status], ["sold", "cancelled"]);
      assert.equal((await productFacts(target.id)).stock, 4);
      await noDrift(target);
    });

    it("takes the units with the payment, where the product wants that, and none for a payment that finds none", async () => {
      const target = await product(2, { stockOn: "payment", limitPerUser: 1 });
      const orders: { orderId: string; buyerId: string }[] = [];
      for (const buyerId of ["a", "b", "c"]) orders.push(await placed({ target, buyerId }));
      assert.equal((await productFacts(target.id)).stock, 2, "an order reserves nothing");
      const [first, second, third] = orders;
      assert.ok(first && second && third);
      await assert.rejects(payOrder(node, first, { outcome: "fail" }), refused("payment_failed"));
      assert.equal((await payOrder(node, first, { outcome: "succeed" })).status, "paid");
      await assert.rejects(payOrder(node, first, { outcome: "succeed" }), refused("order_not_pending"));
      assert.equal((await payOrder(node, second, { outcome: "succeed" })).status, "paid");
      await assert.rejects(payOrder(node, third, { outcome: "succeed" }), refused("sold_out"));
      const { paidUnits, waitingUnits, failedPayments, soldOutAtPayment } = await readProductOrders(target.id);
      assert.deepEqual([paidUnits, waitingUnits, failedPayments, soldOutAtPayment], [2, 0, 1, 1]);
      assert.equal((await productFacts(target.id)).stock, 0);
      await noDrift(target);
    });

    itWhereSafe("lets one thing become of an order that is paid twice and cancelled at the same moment", async () => {
      const target = await product(5, { stockOn: "payment" });
      const order = await placed({ target, buyerId: "a" });
      const pay = () => payOrder(node, order, { outcome: "succeed" });
      const wishes = await Promise.allSettled([pay(), pay(), cancelOrder(node, order), pay()]);
      assert.equal(wishes.filter(({ status }) => status === "fulfilled").length, 1);
      const { paidUnits, pendingUnits } = await readProductOrders(target.id);
      assert.equal(pendingUnits, 0);
      assert.equal((await productFacts(target.id)).stock, 5 - paidUnits);
      await noDrift(target);
    });

    it("gives no buyer more than the limit, however often he clicks, and keeps the rest on sale", async () => {
      const target = await product(6, { limitPerUser: 2 });
      const clicks = await Promise.all(times(6, () => place({ target, buyerId: "greedy" })));
      const sold = clicks.filter(({ status }) => status === "sold").length;
      assert.ok(sold >= 1 && sold <= 2, `${sold} sold`);
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
      await noDrift(target);
    });

    it("gives a buyer one coupon, however often he clicks, and does not drain the rest", async () => {
      const target = { kind: "coupon", id: await makeCoupon(3) } as const;
      const clicks = await Promise.all(times(5, () => place({ target, buyerId: "greedy" })));
      assert.equal(clicks.filter(({ status }) => status === "sold").length, 1);
      assert.equal((await place({ target, buyerId: "b" })).status, "sold");
      await noDrift(target);
    });
  });
}
