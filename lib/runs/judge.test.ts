import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { violationsOf } from "./judge";

const judged = (initial: number, final: number, orders: number) =>
  violationsOf(initial, { ops: [], database: { final, orders, duplicateClaims: 0 } });

describe("violationsOf", () => {
  it("sees units that were promised twice", () => {
    const { oversold, lostUpdates } = judged(100, 0, 131);
    assert.deepEqual({ oversold, lostUpdates }, { oversold: 31, lostUpdates: 31 });
  });

  it("sees lost updates without an oversell", () => {
    const { oversold, lostUpdates, undersold } = judged(100, 60, 57);
    assert.deepEqual({ oversold, lostUpdates, undersold }, { oversold: 0, lostUpdates: 17, undersold: 0 });
  });

  it("sees stock that left without an order, and stock below zero", () => {
    assert.equal(judged(100, 40, 57).undersold, 3);
    assert.equal(judged(100, -1, 101).negativeStock, 1);
  });

  it("sees units that left a counter beside the row and never became an order", () => {
    const withCounter = (counter: number | null) => {
      const drift = { counter, stock: 40, pending: 0, drift: 0 };
      return violationsOf(100, { ops: [], database: { final: 40, orders: 60, duplicateClaims: 0 }, drift });
    };
    assert.equal(withCounter(37).undersold, 3);
    assert.equal(withCounter(-1).negativeStock, 1);
    for (const counter of [40, 43, null]) assert.ok(Object.values(withCounter(counter)).every((count) => count === 0));
  });

  it("finds nothing exactly when initial = final + orders and neither is out of range", () => {
    const size = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(size, fc.integer({ min: -5, max: 55 }), size, (initial, final, orders) => {
        const found = Object.values(judged(initial, final, orders)).some((count) => count > 0);
        const conserved = initial === final + orders && final >= 0 && orders <= initial;
        assert.equal(found, !conserved);
      }),
    );
  });
});
