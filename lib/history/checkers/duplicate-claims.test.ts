import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, op, sentencesOf } from "../testing/make-history";
import { checkDuplicateClaims } from "./duplicate-claims";

const historyOf = (
  purchases: readonly (readonly [buyerId: string, quantity: number])[],
  limitPerBuyer: number | null,
) => history({ ops: purchases.map(([buyerId, quantity]) => op({ buyerId, quantity })), run: { limitPerBuyer } });

describe("checkDuplicateClaims", () => {
  it("names the buyer and the purchases that together exceed the limit", () => {
    const found = checkDuplicateClaims(
      historyOf(
        [
          ["ann", 1],
          ["bob", 1],
          ["ann", 1],
        ],
        1,
      ),
    );
    assert.deepEqual(sentencesOf(found), ["ann has 2 units; the limit is 1."]);
    assert.equal(found.findings[0]?.opIds.length, 2);
  });

  it("counts quantities against the limit", () => {
    assert.equal(checkDuplicateClaims(historyOf([["ann", 3]], 2)).count, 1);
    assert.equal(checkDuplicateClaims(historyOf([["ann", 2]], 2)).count, 0);
  });

  it("counts the units of each buyer beyond the limit, and zero without a limit", () => {
    const purchase = fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 1, max: 3 }));
    fc.assert(
      fc.property(fc.array(purchase), fc.integer({ min: 1, max: 4 }), (purchases, limit) => {
        const of = (name: string) => purchases.filter(([buyer]) => buyer === name).reduce((sum, [, n]) => sum + n, 0);
        const excess = ["a", "b", "c"].reduce((sum, name) => sum + Math.max(0, of(name) - limit), 0);
        assert.equal(checkDuplicateClaims(historyOf(purchases, limit)).count, excess);
        assert.equal(checkDuplicateClaims(historyOf(purchases, null)).count, 0);
      }),
    );
  });
});
