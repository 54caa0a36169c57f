import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, op, sentencesOf } from "../testing/make-history";
import { checkUndersold } from "./undersold";

describe("checkUndersold", () => {
  it("names an accepted write without an order", () => {
    const lost = op({ outcome: "error", writeAccepted: true, writtenValue: 8, committedNs: 3, buyerId: "ann" });
    const found = checkUndersold(history({ ops: [lost], run: { initial: 9 }, end: { final: 8, orders: [] } }));
    assert.equal(found.count, 1);
    assert.deepEqual(found.findings[0]?.opIds, [lost.opId]);
    assert.match(sentencesOf(found)[0] ?? "", /node-1 wrote 8 for ann, who has no order/);
  });

  it("counts the units that left the stock without an order", () => {
    const size = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(size, fc.integer({ min: -5, max: 25 }), size, (initial, final, sold) => {
        const { orders } = history({ ops: Array.from({ length: sold }, () => op()) }).end ?? { orders: [] };
        const { count } = checkUndersold(history({ run: { initial }, end: { final, orders } }));
        assert.equal(count, Math.max(0, initial - final - sold));
      }),
    );
  });
});
