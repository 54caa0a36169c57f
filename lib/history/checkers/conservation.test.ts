import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, op } from "../../../tests/history/make";
import { balanceOf } from "./conservation";

describe("balanceOf", () => {
  it("adds up units, and takes the lower of stock and counter", () => {
    const { end } = history({ ops: [op({ quantity: 2 }), op()] });
    const facts = { run: { initial: 9 }, end: { final: 6, counter: 4, orders: end?.orders ?? [] } };
    assert.deepEqual(balanceOf(history(facts)), { initial: 9, final: 6, ordered: 3, taken: 3, lowest: 4 });
  });

  it("is not known without the run's line or the end's", () => {
    assert.equal(balanceOf(history({ run: null })), null);
    assert.equal(balanceOf(history({ end: null })), null);
  });
});
