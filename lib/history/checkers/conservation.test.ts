import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { findViolations } from "../check-history";
import { history, op, rowOf } from "../testing/make-history";
import { balanceOf } from "./conservation";

describe("balanceOf", () => {
  it("sums the units of the row, and ignores a counter beside it", () => {
    const { end } = history({ ops: [op({ quantity: 2 }), op()] });
    const facts = { run: { initial: 9 }, end: { final: 6, counter: 4, orders: end?.orders ?? [] } };
    assert.deepEqual(balanceOf(history(facts)), { initial: 9, final: 6, ordered: 3, taken: 3 });
  });

  it("determines the oversold, lost, undersold and negative counts of any sale", () => {
    const sale = fc.record({
      initial: fc.integer({ min: 0, max: 50 }),
      final: fc.integer({ min: -20, max: 60 }),
      quantities: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }),
    });
    fc.assert(
      fc.property(sale, ({ initial, final, quantities }) => {
        const ops = quantities.map((quantity) => op({ quantity }));
        const sold = history({ run: { initial }, ops, end: { final, orders: ops.map((line) => rowOf(line)) } });
        const ordered = quantities.reduce((sum, quantity) => sum + quantity, 0);
        const taken = initial - final;
        assert.deepEqual(balanceOf(sold), { initial, final, ordered, taken });
        const { violations } = findViolations(sold);
        assert.equal(violations.oversold, Math.max(0, ordered - initial));
        assert.equal(violations.lostUpdates, Math.max(0, ordered - taken));
        assert.equal(violations.undersold, Math.max(0, taken - ordered));
        assert.equal(violations.negativeStock, Math.max(0, -final));
      }),
    );
  });

  it("is null without a run line or an end line", () => {
    assert.equal(balanceOf(history({ run: null })), null);
    assert.equal(balanceOf(history({ end: null })), null);
  });
});
