import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type OrderRequest, placeOrder } from "./place-order";
import { isShopError } from "./shop-error";
import type { TargetTerms } from "./terms";
import { serverError } from "./testing/fake-postgres";
import { FakeStrategy, makeNode, RUN_SETTINGS } from "./testing/fake-strategy";
import { useFakes } from "./testing/use-fakes";

const PRODUCT = { kind: "product", id: 1 } as const;
const COUPON = { kind: "coupon", id: 1 } as const;
const PLAIN: TargetTerms = {
  limitPerBuyer: null,
  stockOn: "order",
  requiresPurchaseToken: false,
  paymentWindowMs: null,
  opensAtEpochMs: null,
};
const WITHOUT_STOCK = /INSERT INTO orders/;
const TOKEN = /FROM purchase_tokens/;
const PAYMENT_WINDOW_MS = 42_000;

function isRejectedWith(code: string) {
  return (error: unknown) => isShopError(error) && error.options.code === code;
}

describe("placeOrder", () => {
  const fakes = useFakes({ PAYMENT_WINDOW_MS: String(PAYMENT_WINDOW_MS) });

  function start({ inRun = false } = {}) {
    const strategy = new FakeStrategy();
    const node = makeNode(strategy);
    if (inRun) {
      for (const target of [PRODUCT, COUPON]) node.assign({ runId: `run-${target.kind}`, target, ...RUN_SETTINGS });
    }
    const place = (terms: Partial<TargetTerms> = {}, change: Partial<OrderRequest> = {}) => {
      const request = {
        target: PRODUCT,
        buyerId: "b",
        quantity: 1,
        purchaseToken: null,
        idempotencyKey: null,
        ...change,
      };
      return placeOrder(node, request, { terms: { ...PLAIN, ...terms }, plan: node.plan(request.target) });
    };
    return { strategy, place, orderTerms: () => strategy.purchases.map(({ order }) => order) };
  }

  describe("before the sale opens", () => {
    it("rejects the order and says when to retry", async () => {
      const { strategy, place } = start();
      const opensAtEpochMs = Date.now() + 90_000;
      await assert.rejects(place({ opensAtEpochMs }), (error) => {
        const { code, details, retryAfterSeconds } = (error as { options: Record<string, unknown> }).options;
        assert.deepEqual([code, details, retryAfterSeconds], ["not_open", { opensAtEpochMs }, 90]);
        return true;
      });
      assert.equal(strategy.purchases.length, 0);
    });

    it("accepts a run's orders, and all orders once it is open", async () => {
      await start({ inRun: true }).place({ opensAtEpochMs: Date.now() + 90_000 });
      await start().place({ opensAtEpochMs: Date.now() - 1 });
    });
  });

  describe("terms of the order", () => {
    it("are the shop's: default payment deadline, idempotency key, no token", async () => {
      const { place, orderTerms } = start();
      await place({}, { idempotencyKey: "key-1", purchaseToken: "not required" });
      const expected = {
        kind: "shop",
        idempotencyKey: "key-1",
        paymentWindowMs: PAYMENT_WINDOW_MS,
        purchaseTokenId: null,
      };
      assert.deepEqual(orderTerms(), [expected]);
    });

    it("are the product's, if it has its own payment deadline and requires a token", async () => {
      const { place, orderTerms } = start();
      fakes.postgres.script(TOKEN, [{ product_id: 1, user_id: "b", used: false }]);
      await place({ paymentWindowMs: 5_000, requiresPurchaseToken: true }, { purchaseToken: "token-1" });
      const expected = { kind: "shop", idempotencyKey: null, paymentWindowMs: 5_000, purchaseTokenId: "token-1" };
      assert.deepEqual(orderTerms(), [expected]);
    });

    it("have no payment deadline in a run", async () => {
      const { place, orderTerms } = start({ inRun: true });
      await place({ limitPerBuyer: 2 });
      const expected = { kind: "shop", idempotencyKey: null, paymentWindowMs: null, purchaseTokenId: null };
      assert.deepEqual(orderTerms(), [expected]);
    });

    it("are absent for a run's load on plain terms, and for coupons", async () => {
      const run = start({ inRun: true });
      await run.place();
      await run.place({ limitPerBuyer: 1 }, { target: COUPON });
      const shop = start();
      await shop.place({ limitPerBuyer: 1 }, { target: COUPON });
      assert.deepEqual([...run.orderTerms(), ...shop.orderTerms()], [undefined, undefined, undefined]);
    });

    it("carry the idempotency key of a run's order and of a coupon's claim", async () => {
      const { place, orderTerms } = start({ inRun: true });
      await place({}, { idempotencyKey: "key-1" });
      await place({}, { target: COUPON, idempotencyKey: "key-2" });
      assert.deepEqual(
        orderTerms().map((order) => order?.kind === "shop" && order.idempotencyKey),
        ["key-1", "key-2"],
      );
    });
  });

  it("passes on the buyer's limit", async () => {
    const { strategy, place } = start();
    await place({ limitPerBuyer: 3 });
    await place();
    assert.deepEqual(
      strategy.purchases.map(({ limitPerBuyer }) => limitPerBuyer),
      [3, undefined],
    );
  });

  it("rejects an invalid purchase token before the strategy is called", async () => {
    const { strategy, place } = start();
    const isRejected = isRejectedWith("purchase_token_missing");
    await assert.rejects(place({ requiresPurchaseToken: true }), isRejected);
    assert.equal(strategy.purchases.length, 0);
  });

  describe("if the product takes its stock at payment", () => {
    const ON_PAYMENT = { stockOn: "payment" } as const;

    it("writes the order without calling the strategy", async () => {
      const { strategy, place } = start();
      fakes.postgres.script(WITHOUT_STOCK, [{ order_id: "9" }]);
      const placed = await place(ON_PAYMENT, { quantity: 2, idempotencyKey: "key-1" });
      const expected = {
        outcome: { status: "sold", orderId: "9" },
        strategyId: "fake",
        runId: null,
        stockTaken: false,
      };
      assert.deepEqual(placed, expected);
      const [values] = fakes.postgres.sent(WITHOUT_STOCK);
      const [productId, buyerId, quantity, , runId, node, strategyId, ...extras] = values ?? [];
      assert.deepEqual([productId, buyerId, quantity, runId, node, strategyId], [1, "b", 2, null, "node-1", "fake"]);
      assert.deepEqual(extras, ["key-1", PAYMENT_WINDOW_MS, null]);
      assert.deepEqual([strategy.purchases.length, fakes.postgres.released], [0, [undefined]]);
    });

    it("takes the stock all the same in a run", async () => {
      const { strategy, place } = start({ inRun: true });
      assert.equal((await place({ ...ON_PAYMENT, limitPerBuyer: 1 })).stockTaken, true);
      assert.equal(strategy.purchases.length, 1);
    });

    it("answers sold_out if the statement finds too little stock", async () => {
      const { place } = start();
      fakes.postgres.script(WITHOUT_STOCK, []);
      assert.deepEqual((await place(ON_PAYMENT)).outcome, { status: "sold_out" });
    });

    it("answers the row's rejection and keeps the connection", async () => {
      const { place } = start();
      fakes.postgres.script(WITHOUT_STOCK, serverError("23505", "orders_idempotency_key"));
      assert.deepEqual((await place(ON_PAYMENT)).outcome, { status: "repeated_key" });
      assert.deepEqual(fakes.postgres.released, [undefined]);
    });

    it("fails definitely if no connection is available", async () => {
      const { place } = start();
      fakes.postgres.connectError = new Error("connection refused");
      await assert.rejects(place(ON_PAYMENT), { code: "backend_unavailable", isDefinite: true });
    });

    it("fails definitely, and keeps the connection, if PostgreSQL rejects the statement", async () => {
      const { place } = start();
      fakes.postgres.script(WITHOUT_STOCK, serverError("40P01"));
      await assert.rejects(place(ON_PAYMENT), { code: "backend_unavailable", isDefinite: true });
      assert.deepEqual(fakes.postgres.released, [undefined]);
    });

    it("reports an unknown outcome, and destroys the connection, if the reply is lost", async () => {
      const { place } = start();
      const lost = new Error("Connection terminated unexpectedly");
      fakes.postgres.script(WITHOUT_STOCK, lost);
      await assert.rejects(place(ON_PAYMENT), { code: "outcome_unknown", isDefinite: false, cause: lost });
      assert.deepEqual(fakes.postgres.released, [lost]);
    });
  });
});
