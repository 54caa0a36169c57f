import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, op, rowOf, sentencesOf } from "../testing/make-history";
import { checkOversold } from "./oversold";

describe("checkOversold", () => {
  it("counts units, not rows, and names the first order that cannot be delivered", () => {
    const ops = [op({ quantity: 2, committedNs: 5 }), op({ quantity: 2, buyerId: "late", committedNs: 9 }), op()];
    const found = checkOversold(history({ ops, run: { initial: 3 } }));
    assert.equal(found.count, 2);
    assert.deepEqual(found.findings[0]?.opIds, [ops[1]?.opId]);
    assert.equal(found.findings[0]?.atNs, "9");
    assert.deepEqual(sentencesOf(found), [
      "Buyers ordered 5 units from a stock of 3; late placed the first order that cannot be delivered.",
    ]);
  });

  it("finds nothing without the rows or the initial stock", () => {
    assert.equal(checkOversold(history({ ops: [op()], run: { initial: 0 }, end: null })).count, 0);
    assert.equal(checkOversold(history({ ops: [op()], run: null })).count, 0);
  });

  it("counts the ordered units beyond the stock", () => {
    const size = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(size, fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 10 }), (initial, quantities) => {
        const orders = quantities.map((quantity) => rowOf(op({ quantity })));
        const ordered = quantities.reduce((sum, quantity) => sum + quantity, 0);
        const { count, findings } = checkOversold(history({ run: { initial }, end: { final: 0, orders } }));
        assert.equal(count, Math.max(0, ordered - initial));
        assert.equal(findings.length, count > 0 ? 1 : 0);
      }),
    );
  });
});
