import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findViolations } from "../check-history";
import { history, op, rowOf, sentencesOf } from "../testing/make-history";
import { checkCounterDrift } from "./counter-drift";

const endingAt = (final: number, counter?: number | null) =>
  history({ run: { initial: 9 }, end: { final, orders: [], ...(counter === undefined ? {} : { counter }) } });

describe("checkCounterDrift", () => {
  it("counts the units that the counter lacks", () => {
    const found = checkCounterDrift(endingAt(9, 7));
    assert.equal(found.count, 2);
    assert.deepEqual(sentencesOf(found), ["The counter ended at 7 and the row at 9: 2 units cannot be bought."]);
  });

  it("counts the units that the row lacks", () => {
    const found = checkCounterDrift(endingAt(9, 12));
    assert.equal(found.count, 3);
    assert.match(sentencesOf(found)[0] ?? "", /3 units on the counter cannot be delivered/);
  });

  it("finds nothing if the two agree, or if there is no counter", () => {
    for (const subject of [endingAt(4, 4), endingAt(4, null), endingAt(4)]) {
      assert.equal(checkCounterDrift(subject).count, 0);
    }
    assert.equal(checkCounterDrift(history({ end: null })).count, 0);
  });

  it("is the only violation if the row agrees with the orders: no unit left the row without an order", () => {
    const sold = op();
    for (const counter of [0, 5, 20]) {
      const end = { final: 8, counter, orders: [rowOf(sold)] };
      const { violations } = findViolations(history({ ops: [sold], run: { initial: 9 }, end }));
      const found = Object.entries(violations).filter(([, count]) => count > 0);
      assert.deepEqual(found, [["counterDrift", Math.abs(8 - counter)]]);
    }
  });

  it("names a counter that was reset, and reports no lost update of the row", () => {
    const sold = [op({ opId: "1", readValue: 9, writtenValue: 8 }), op({ opId: "2", readValue: 9, writtenValue: 8 })];
    for (const counter of [7, null]) {
      const end = { final: 7, counter, orders: sold.map((each) => rowOf(each)) };
      const { violations } = findViolations(history({ ops: sold, run: { initial: 9 }, end }));
      assert.deepEqual([violations.counterDrift, violations.lostUpdates], [1, 0]);
      const [sentence = ""] = sentencesOf(checkCounterDrift(history({ ops: sold, run: { initial: 9 }, end })));
      assert.match(sentence, /was at 9 for two sales.*it was reset/);
    }
  });
});
