import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LockError } from "../locks/errors";
import type { ShopOrder } from "./api";
import { cancelOrder, payOrder } from "./pay-order";
import { isShopError } from "./shop-error";
import { FakeStrategy, makeNode, RUN_SETTINGS } from "./testing/fake-strategy";
import { useFakes } from "./testing/use-fakes";

const OF_BUYER = { orderId: "7", buyerId: "visitor-1" };
const PRODUCT = { kind: "product", id: 1 } as const;
const FIND = /FROM orders o JOIN products/;
const PAY = /SET status = 'paid'/;
const FAILED = /SET failed_payments/;
const END_WITHOUT_STOCK = /AND NOT stock_taken/;

const PENDING: ShopOrder = {
  id: "7",
  productId: 1,
  productName: "Phone",
  priceCents: 100,
  quantity: 2,
  status: "pending",
  stockTaken: true,
  createdAtEpochMs: 0,
  expiresAtEpochMs: null,
  paidAtEpochMs: null,
  endedAtEpochMs: null,
  endReason: null,
  failedPayments: 0,
  strategy: "fake",
  node: "node-1",
};
const PAID: ShopOrder = { ...PENDING, status: "paid" };
const CANCELLED: ShopOrder = { ...PENDING, status: "cancelled", endReason: "buyer" };
const OVERDUE: ShopOrder = { ...PENDING, expiresAtEpochMs: 1 };
const RESERVES_NOTHING: ShopOrder = { ...PENDING, stockTaken: false };

function isRejectedWith(code: string) {
  return (error: unknown) => isShopError(error) && error.options.code === code;
}

function start() {
  const strategy = new FakeStrategy();
  const node = makeNode(strategy);
  return { strategy, node };
}

describe("payOrder", () => {
  const fakes = useFakes();
  const pay = (node = start().node) => payOrder(node, OF_BUYER, { outcome: "succeed" });

  it("marks an order that has its stock as paid, without calling the strategy", async () => {
    const { strategy, node } = start();
    fakes.postgres.script(FIND, [PENDING], [PAID]).script(PAY, [{}]);
    assert.deepEqual(await pay(node), PAID);
    assert.deepEqual(fakes.postgres.sent(PAY), [["7", "visitor-1"]]);
    assert.equal(strategy.purchases.length, 0);
  });

  for (const [what, found, code] of [
    ["of another buyer", [], "order_not_found"],
    ["that is paid", [PAID], "order_not_pending"],
    ["that is cancelled", [CANCELLED], "order_not_pending"],
    ["that has expired", [{ ...PENDING, status: "expired" }], "order_expired"],
    ["whose payment deadline has passed", [OVERDUE], "order_expired"],
  ] as const) {
    it(`rejects an order ${what} as ${code}`, async () => {
      fakes.postgres.script(FIND, [...found]);
      await assert.rejects(pay(), isRejectedWith(code));
      assert.equal(fakes.postgres.sent(PAY).length, 0);
    });
  }

  it("rejects an order that another request ended after it was read", async () => {
    fakes.postgres.script(FIND, [PENDING], [CANCELLED]).script(PAY, []);
    await assert.rejects(pay(), isRejectedWith("order_not_pending"));
  });

  it("counts a failed payment and leaves the order pending", async () => {
    fakes.postgres.script(FIND, [PENDING]).script(FAILED, [{}]);
    await assert.rejects(payOrder(start().node, OF_BUYER, { outcome: "fail" }), isRejectedWith("payment_failed"));
    assert.deepEqual([fakes.postgres.sent(FAILED), fakes.postgres.sent(PAY)], [[["7"]], []]);
  });

  describe("of an order that reserves nothing", () => {
    it("takes the units with the strategy, and pays the pending order with them", async () => {
      const { strategy, node } = start();
      fakes.postgres.script(FIND, [RESERVES_NOTHING], [PAID]);
      assert.deepEqual(await pay(node), PAID);
      const [purchase] = strategy.purchases;
      assert.deepEqual([purchase?.target, purchase?.quantity, purchase?.buyerId], [PRODUCT, 2, "visitor-1"]);
      assert.deepEqual(purchase?.order, { kind: "pending", orderId: "7" });
    });

    it("cancels the order if the product is sold out", async () => {
      const { strategy, node } = start();
      strategy.purchaseOutcome = { status: "sold_out" };
      fakes.postgres.script(FIND, [RESERVES_NOTHING]).script(END_WITHOUT_STOCK, [{ order_id: "7" }]);
      await assert.rejects(pay(node), isRejectedWith("sold_out"));
      const [values] = fakes.postgres.sent(END_WITHOUT_STOCK);
      assert.deepEqual(values?.slice(0, 3), [["7"], "cancelled", "sold_out"]);
    });

    it("keeps the order pending if the lock is contended", async () => {
      const { strategy, node } = start();
      strategy.purchaseOutcome = { status: "contended", waitedMs: 1, attempts: 1 };
      fakes.postgres.script(FIND, [RESERVES_NOTHING]);
      await assert.rejects(pay(node), isRejectedWith("contended"));
      assert.equal(fakes.postgres.sent(END_WITHOUT_STOCK).length, 0);
    });

    it("keeps the order pending if the purchase fails, and passes the failure on", async () => {
      const { strategy, node } = start();
      const at = { strategyId: "fake", resource: "product:1", message: "reply lost", isDefinite: false } as const;
      const lost = new LockError({ code: "outcome_unknown", ...at });
      strategy.purchaseOutcome = lost;
      fakes.postgres.script(FIND, [RESERVES_NOTHING]);
      await assert.rejects(pay(node), { name: "PurchaseFailure", cause: lost });
      assert.equal(fakes.postgres.sent(END_WITHOUT_STOCK).length, 0);
    });

    it("does not cancel an order that another request paid meanwhile", async () => {
      const { strategy, node } = start();
      strategy.purchaseOutcome = { status: "sold_out" };
      fakes.postgres.script(FIND, [RESERVES_NOTHING], [PAID]);
      await assert.rejects(pay(node), isRejectedWith("order_not_pending"));
      assert.equal(fakes.postgres.sent(END_WITHOUT_STOCK).length, 0);
    });
  });
});

describe("cancelOrder", () => {
  const fakes = useFakes();

  it("returns the units with the strategy that sells the product", async () => {
    const { strategy, node } = start();
    fakes.postgres.script(FIND, [PENDING], [CANCELLED]);
    assert.deepEqual(await cancelOrder(node, OF_BUYER), CANCELLED);
    const [giveBack] = strategy.giveBacks;
    assert.deepEqual([giveBack?.target, giveBack?.as, giveBack?.reason], [PRODUCT, "cancelled", "buyer"]);
    assert.deepEqual(
      giveBack?.orders.map(({ orderId, quantity }) => [orderId, quantity]),
      [["7", 2]],
    );
  });

  it("ends an order that reserves nothing without calling the strategy", async () => {
    const { strategy, node } = start();
    fakes.postgres.script(FIND, [RESERVES_NOTHING], [CANCELLED]).script(END_WITHOUT_STOCK, [{ order_id: "7" }]);
    assert.deepEqual(await cancelOrder(node, OF_BUYER), CANCELLED);
    assert.equal(strategy.giveBacks.length, 0);
  });

  it("rejects an order that is not pending", async () => {
    fakes.postgres.script(FIND, [PAID]);
    await assert.rejects(cancelOrder(start().node, OF_BUYER), isRejectedWith("order_not_pending"));
  });

  it("rejects while a run sells the product, because only the run may change its stock", async () => {
    const { strategy, node } = start();
    node.assign({ runId: "run-1", target: PRODUCT, ...RUN_SETTINGS });
    fakes.postgres.script(FIND, [PENDING]);
    await assert.rejects(cancelOrder(node, OF_BUYER), isRejectedWith("sale_running"));
    assert.equal(strategy.giveBacks.length, 0);
  });

  it("rejects while a run is prepared or its stock is counted, and cancels after the verdict", async () => {
    const { strategy, node } = start();
    const status = /^SELECT status FROM runs/;
    fakes.postgres.script(status, [{ status: "running" }], [{ status: "running" }], [{ status: "finished" }]);
    fakes.postgres.script(FIND, [PENDING], [PENDING], [PENDING], [CANCELLED]);
    node.reserve({ runId: "run-1", target: PRODUCT, ...RUN_SETTINGS });
    await assert.rejects(cancelOrder(node, OF_BUYER), isRejectedWith("sale_running"));
    node.open("run-1");
    node.close("run-1");
    await assert.rejects(cancelOrder(node, OF_BUYER), isRejectedWith("sale_running"));
    assert.equal(strategy.giveBacks.length, 0);
    assert.deepEqual(await cancelOrder(node, OF_BUYER), CANCELLED);
    assert.equal(strategy.giveBacks.length, 1);
  });

  it("rejects if the lock is contended", async () => {
    const { strategy, node } = start();
    strategy.giveBackOutcome = { status: "contended", waitedMs: 1, attempts: 1 };
    fakes.postgres.script(FIND, [PENDING]);
    await assert.rejects(cancelOrder(node, OF_BUYER), isRejectedWith("contended"));
  });

  it("rejects an order that another request ended meanwhile", async () => {
    const { strategy, node } = start();
    strategy.giveBackOutcome = { status: "released", orders: [] };
    fakes.postgres.script(FIND, [PENDING], [PAID]);
    await assert.rejects(cancelOrder(node, OF_BUYER), isRejectedWith("order_not_pending"));
  });
});
