import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { formatPrice } from "../format";
import { type ClockBounds, narrowed, offsetMs } from "./clock";
import { countdownText, spanText, spokenCountdown } from "./countdown";
import { couponState, largestQuantity, productState, unitsHeld } from "./offer";
import { parseRequest } from "./pending-requests";
import { pollPauseMs } from "./poll";
import { percentOf, unitShares } from "./views";

const NOW = 1_800_000_000_000;

describe("a product for a visitor", () => {
  const product = { stock: 5, limitPerUser: 2, opensAtEpochMs: null };

  it("is open, sold out or at the visitor's limit", () => {
    assert.equal(productState(product, 0, NOW), "open");
    assert.equal(productState(product, 1, NOW), "open");
    assert.equal(productState(product, 2, NOW), "limit_reached");
    assert.equal(productState({ ...product, stock: 0 }, 0, NOW), "sold_out");
    assert.equal(productState({ ...product, stock: -3 }, 0, NOW), "sold_out");
    assert.equal(productState({ ...product, limitPerUser: null }, 50, NOW), "open");
  });

  it("opens at its opening time and not before", () => {
    const closed = { ...product, opensAtEpochMs: NOW };
    assert.equal(productState(closed, 0, NOW - 1), "not_open");
    assert.equal(productState(closed, 0, NOW), "open");
    assert.equal(productState({ ...closed, stock: 0 }, 0, NOW - 1), "not_open");
  });

  it("has a largest quantity within stock, limit and API maximum", () => {
    assert.equal(largestQuantity(product, 0), 2);
    assert.equal(largestQuantity(product, 1), 1);
    assert.equal(largestQuantity({ ...product, limitPerUser: null }, 0), 5);
    assert.equal(largestQuantity({ ...product, stock: 5_000, limitPerUser: null }, 0), 100);
    assert.equal(largestQuantity({ ...product, stock: 0 }, 0), 1);
  });

  it("counts only pending and paid orders towards the limit", () => {
    const order = (productId: number, quantity: number, status: string) => ({ productId, quantity, status });
    const orders = [
      order(1, 1, "pending"),
      order(1, 2, "paid"),
      order(1, 4, "cancelled"),
      order(1, 8, "expired"),
      order(2, 16, "paid"),
    ];
    assert.equal(unitsHeld(orders, 1), 3);
  });
});

describe("a coupon for a visitor", () => {
  it("is claimed, not open, open or sold out, in this order of precedence", () => {
    const coupon = { stock: 1, opensAtEpochMs: NOW };
    assert.equal(couponState(coupon, true, NOW - 1), "already_claimed");
    assert.equal(couponState(coupon, false, NOW - 1), "not_open");
    assert.equal(couponState(coupon, false, NOW), "open");
    assert.equal(couponState({ ...coupon, stock: 0 }, false, NOW), "sold_out");
  });
});

describe("countdown", () => {
  it("shows zero exactly at the end", () => {
    assert.equal(countdownText(1), "0:01");
    assert.equal(countdownText(0), "0:00");
    assert.equal(countdownText(-5_000), "0:00");
    assert.equal(countdownText(872_000), "14:32");
    assert.equal(countdownText(3_600_000), "1:00:00");
    assert.equal(countdownText(86_400_000 * 3 + 7_450_000), "3 d 02:04:10");
  });

  it("changes its spoken text rarely", () => {
    const texts = new Set<string>();
    for (let leftMs = 600_000; leftMs >= 0; leftMs -= 250) texts.add(spokenCountdown(leftMs));
    assert.ok(texts.size <= 6, `expected at most 6 texts in ten minutes, found ${texts.size}`);
    assert.equal(spokenCountdown(0), "now");
    assert.equal(spokenCountdown(9_000), "in ten seconds");
  });

  it("rounds a duration to its largest unit", () => {
    assert.deepEqual([30_000, 900_000, 7_200_000, 172_800_000, 100].map(spanText), [
      "30 seconds",
      "15 minutes",
      "2 hours",
      "2 days",
      "1 second",
    ]);
  });
});

describe("the lab's clock", () => {
  it("is estimated from headers with whole seconds, for any offset of the device's clock", () => {
    const attempts = fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 400 })), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), attempts, (trueOffsetMs, requests) => {
        let bounds: ClockBounds | null = null;
        for (const [startMs, roundTripMs] of requests) {
          const sentAtEpochMs = NOW + startMs;
          const dateEpochMs = Math.floor((sentAtEpochMs + roundTripMs / 2 + trueOffsetMs) / 1_000) * 1_000;
          bounds = narrowed(bounds, { sentAtEpochMs, receivedAtEpochMs: sentAtEpochMs + roundTripMs, dateEpochMs });
        }
        assert.ok(bounds !== null && bounds.lowMs <= trueOffsetMs && trueOffsetMs <= bounds.highMs);
        assert.ok(offsetMs(bounds) <= trueOffsetMs, "expected an offset at or below the true one");
        assert.ok(trueOffsetMs - offsetMs(bounds) <= 1_201);
      }),
    );
  });

  it("is estimated again after a clock change", () => {
    const first = narrowed(null, { sentAtEpochMs: NOW, receivedAtEpochMs: NOW, dateEpochMs: NOW });
    const later = narrowed(first, { sentAtEpochMs: NOW, receivedAtEpochMs: NOW, dateEpochMs: NOW + 60_000 });
    assert.equal(offsetMs(later), 60_000);
    assert.equal(offsetMs(null), 0);
  });
});

describe("seller's view", () => {
  it("splits units into paid, reserved and in stock", () => {
    const orders = {
      pendingUnits: 20,
      waitingUnits: 7,
      paidUnits: 30,
      cancelledUnits: 0,
      expiredUnits: 0,
      failedPayments: 0,
      soldOutAtPayment: 0,
    };
    const shares = unitShares(50, orders);
    assert.deepEqual(shares, { paid: 30, reserved: 20, left: 50, total: 100 });
    assert.equal(percentOf(shares.reserved, shares.total), 20);
    assert.equal(percentOf(0, 0), 0);
    assert.equal(unitShares(-4, orders).left, 0);
  });

  it("shows prices in euros and cents", () => {
    assert.equal(formatPrice(34_900), "€349.00");
  });
});

describe("polling", () => {
  it("backs off on failures, up to a limit", () => {
    assert.equal(pollPauseMs(2_000, 0), 2_000);
    assert.equal(pollPauseMs(2_000, 2), 8_000);
    assert.equal(pollPauseMs(2_000, 500), 15_000);
  });
});

describe("stored request", () => {
  it("is parsed, or ignored if malformed", () => {
    const request = { key: "k", path: "/api/products/1/reduce-stock", body: { quantity: 1 } };
    assert.deepEqual(parseRequest(JSON.stringify(request)), request);
    for (const text of [
      null,
      "",
      "null",
      "7",
      "{",
      "{}",
      '{"key":"k","path":"https://elsewhere.test/","body":{}}',
      '{"key":"k","path":"/api/x","body":null}',
    ]) {
      assert.equal(parseRequest(text), null, String(text));
    }
  });
});
