import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkLostUpdates } from "./lost-updates";

const sale = (readValue: number, committedNs: number, node = "node-1") =>
  op({ readValue, writtenValue: readValue - 1, writeNs: 0, writeAccepted: true, committedNs, answeredNs: 99, node });

describe("checkLostUpdates", () => {
  it("names the two that read the same value, in the order in which they read it", () => {
    const ops = [
      op({ ...sale(17, 9, "node-1"), readNs: 2 }),
      sale(16, 12, "node-3"),
      op({ ...sale(17, 10, "node-2"), readNs: 1 }),
    ];
    const found = checkLostUpdates(history({ ops, run: { initial: 17 }, end: { final: 16, orders: [] } }));
    assert.deepEqual(sentencesOf(found), ["node-2 read 17, node-1 read 17, both wrote 16."]);
    assert.equal(found.findings[0]?.atNs, "10");
  });

  it("takes the later write for the one that undid the other, however the purchases are listed", () => {
    const found = checkLostUpdates(history({ ops: [sale(17, 10, "node-2"), sale(17, 9, "node-1")] }));
    assert.equal(found.findings[0]?.atNs, "10");
  });

  it("names them in the order of their writes where that of their reads is not known", () => {
    const named = (first: OpFields, second: OpFields) => {
      const ops = [op({ ...sale(17, 9, "node-1"), ...first }), op({ ...sale(17, 10, "node-2"), ...second })];
      return sentencesOf(checkLostUpdates(history({ ops })));
    };
    const expected = ["node-1 read 17, node-2 read 17, both wrote 16."];
    assert.deepEqual(named({ host: "a", readNs: 5 }, { host: "b", readNs: 1 }), expected);
    assert.deepEqual(named({ readNs: 5 }, { readNs: 5 }), expected);
    assert.deepEqual(named({ readNs: 5 }, {}), expected);
  });

  it("says so where the sums show a lost update and no operation does", () => {
    const { end } = history({ ops: [op(), op()] });
    const found = checkLostUpdates(history({ run: { initial: 5 }, end: { final: 4, orders: end?.orders ?? [] } }));
    assert.equal(found.count, 1);
    assert.deepEqual(sentencesOf(found), ["1 order did not move the stock; which is not recorded."]);
  });

  it("does not take two that decremented from one read for two that wrote one value", () => {
    const first = op({ readValue: 2, writtenValue: 1, writeAccepted: true });
    const second = op({ readValue: 2, writtenValue: 0, writeAccepted: true });
    assert.equal(checkLostUpdates(history({ ops: [first, second], run: { initial: 2 } })).count, 0);
  });

  it("lets a counter that units may have come back to pass a value twice", () => {
    const back = op({ outcome: "error", writeNs: 1, invokedNs: 1, answeredNs: 5 });
    const ops = [sale(3, 2), sale(3, 9)];
    assert.equal(checkLostUpdates(history({ ops })).count, 1);
    assert.equal(checkLostUpdates(history({ ops: [...ops, back] })).count, 0);
    const refusedByTheRow = op({ ...back, opId: "r", outcome: "rejected", writeAccepted: false, writtenValue: 3 });
    assert.equal(checkLostUpdates(history({ ops: [...ops, refusedByTheRow] })).count, 0);
  });

  it("lets units come back at any time between hosts, and on one only before the answer", () => {
    const back = (host: string) => op({ outcome: "error", writeNs: 200, invokedNs: 200, answeredNs: 205, host });
    const ops = [sale(3, 2), sale(3, 9)];
    assert.equal(checkLostUpdates(history({ ops: [...ops, back("h")] })).count, 1);
    assert.equal(checkLostUpdates(history({ ops: [...ops, back("elsewhere")] })).count, 0);
  });

  it("is not put off by a lock holder's failure: its write comes with the order or not at all", () => {
    const failed = op({ outcome: "error", grantedNs: 1, writeNs: 1, answeredNs: 2 });
    assert.equal(checkLostUpdates(history({ ops: [sale(3, 2), sale(3, 9), failed] })).count, 1);
  });

  it("counts what the sums prove, and pairs that the sums hide", () => {
    const reads = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(reads, fc.integer({ min: 0, max: 6 }), (values, final) => {
        const ops = values.map((value, index) => sale(value, index + 1));
        const { count } = checkLostUpdates(history({ ops, run: { initial: 6 }, end: ends(final, ops) }));
        const bySums = values.length - (6 - final);
        const byPairs = values.length - new Set(values).size;
        assert.equal(count, Math.max(0, bySums, byPairs));
      }),
    );
  });
});

function ends(final: number, ops: readonly ReturnType<typeof op>[]) {
  return { final, orders: history({ ops }).end?.orders ?? [] };
}
