import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, rowOf, sentencesOf } from "../testing/make-history";
import { checkLostUpdates } from "./lost-updates";

const sale = (readValue: number, committedNs: number, node = "node-1") =>
  op({ readValue, writtenValue: readValue - 1, writeNs: 0, writeAccepted: true, committedNs, answeredNs: 99, node });

describe("checkLostUpdates", () => {
  it("names the two purchases that read the same value, in the order of their reads", () => {
    const ops = [
      op({ ...sale(17, 9, "node-1"), readNs: 2 }),
      sale(16, 12, "node-3"),
      op({ ...sale(17, 10, "node-2"), readNs: 1 }),
    ];
    const found = checkLostUpdates(history({ ops, run: { initial: 17 }, end: { final: 16, orders: [] } }));
    assert.deepEqual(sentencesOf(found), ["node-2 read 17, node-1 read 17, both wrote 16."]);
    assert.equal(found.findings[0]?.atNs, "10");
  });

  it("dates the finding by the later write, in any order of the lines", () => {
    const [late, early] = [sale(17, 10, "node-2"), sale(17, 9, "node-1")];
    const end = { final: 99, orders: [rowOf(early), rowOf(late)] };
    const found = checkLostUpdates(history({ ops: [late, early], end }));
    assert.equal(found.findings[0]?.atNs, "10");
  });

  it("names them in the order of their writes if the order of their reads is unknown", () => {
    const sentencesFor = (first: OpFields, second: OpFields) => {
      const ops = [op({ ...sale(17, 9, "node-1"), ...first }), op({ ...sale(17, 10, "node-2"), ...second })];
      return sentencesOf(checkLostUpdates(history({ ops })));
    };
    const expected = ["node-1 read 17, node-2 read 17, both wrote 16."];
    assert.deepEqual(sentencesFor({ host: "a", readNs: 5 }, { host: "b", readNs: 1 }), expected);
    assert.deepEqual(sentencesFor({ readNs: 5 }, { readNs: 5 }), expected);
    assert.deepEqual(sentencesFor({ readNs: 5 }, {}), expected);
  });

  it("reports a lost update that only the totals show", () => {
    const { end } = history({ ops: [op(), op()] });
    const found = checkLostUpdates(history({ run: { initial: 5 }, end: { final: 4, orders: end?.orders ?? [] } }));
    assert.equal(found.count, 1);
    assert.deepEqual(sentencesOf(found), [
      "1 ordered unit did not leave the stock, but the history does not show which.",
    ]);
  });

  it("ignores two atomic decrements that report the same read", () => {
    const first = op({ readValue: 2, writtenValue: 1, writeAccepted: true });
    const second = op({ readValue: 2, writtenValue: 0, writeAccepted: true });
    assert.equal(checkLostUpdates(history({ ops: [first, second], run: { initial: 2 } })).count, 0);
  });

  it("allows a counter to reach a value twice if units may have been given back", () => {
    const back = op({ outcome: "error", writeNs: 1, invokedNs: 1, answeredNs: 5 });
    const ops = [sale(3, 2), sale(3, 9)];
    assert.equal(checkLostUpdates(history({ ops })).count, 1);
    assert.equal(checkLostUpdates(history({ ops: [...ops, back] })).count, 0);
    const rejectedByRow = op({ ...back, opId: "r", outcome: "rejected", writeAccepted: false, writtenValue: 3 });
    assert.equal(checkLostUpdates(history({ ops: [...ops, rejectedByRow] })).count, 0);
  });

  it("allows give-backs at any time on another host, and before the answer on the same host", () => {
    const back = (host: string) => op({ outcome: "error", writeNs: 200, invokedNs: 200, answeredNs: 205, host });
    const ops = [sale(3, 2), sale(3, 9)];
    assert.equal(checkLostUpdates(history({ ops: [...ops, back("h")] })).count, 1);
    assert.equal(checkLostUpdates(history({ ops: [...ops, back("elsewhere")] })).count, 0);
  });

  it("does not treat a failed lock holder as a give-back: its write rolls back", () => {
    const failed = op({ outcome: "error", grantedNs: 1, writeNs: 1, answeredNs: 2 });
    assert.equal(checkLostUpdates(history({ ops: [sale(3, 2), sale(3, 9), failed] })).count, 1);
  });

  it("counts a write of unknown outcome only if its row proves that it sold", () => {
    const first = sale(3, 2);
    const unknown = op({ ...sale(3, 9), outcome: "unknown", grantedNs: 0 });
    const orders = [rowOf(first), rowOf(unknown)];
    assert.equal(checkLostUpdates(history({ ops: [first, unknown] })).count, 0);
    assert.equal(checkLostUpdates(history({ ops: [first, unknown], end: { final: 98, orders } })).count, 1);
  });

  it("pairs no refused write of a repeated call that was answered with the order of the first", () => {
    // The line of the first call is missing, so the repeat stands for its sale.
    const other = op({ ...sale(3, 2), grantedNs: 0 });
    const repeat = op({ ...sale(3, 9), grantedNs: 0, committedNs: undefined, idempotencyKey: "key-1" });
    const end = { final: 98, orders: [rowOf(other), { ...rowOf(repeat), opId: "op-of-the-first-call" }] };
    const countOf = (writeAccepted: boolean) =>
      checkLostUpdates(history({ ops: [other, { ...repeat, writeAccepted }], end, isComplete: false })).count;
    assert.deepEqual([countOf(false), countOf(true)], [0, 1]);
  });

  it("allows a purchase of unknown outcome to have given its units back", () => {
    const unknown = op({ outcome: "unknown", writeNs: 1, invokedNs: 1 });
    assert.equal(checkLostUpdates(history({ ops: [sale(3, 2), sale(3, 9), unknown] })).count, 0);
  });

  it("does not treat a purchase whose counter gave no units as a give-back", () => {
    const lost = { writeNs: 1, invokedNs: 1, answeredNs: 5, writeAccepted: false } as const;
    const found = (fields: OpFields) =>
      checkLostUpdates(history({ ops: [sale(3, 2), sale(3, 9), op({ ...lost, ...fields })] })).count;
    assert.equal(found({ outcome: "rejected" }), 1, "expected a violation: no value was written");
    assert.equal(found({ outcome: "contended", writtenValue: 2 }), 1, "expected a violation: the write was contended");
  });

  it("does not order the give-backs of another host by its clock", () => {
    const first = op({ host: "elsewhere", outcome: "contended", answeredNs: 1 });
    const back = op({ host: "elsewhere", outcome: "error", writeNs: 200, invokedNs: 200, answeredNs: 205 });
    assert.equal(checkLostUpdates(history({ ops: [sale(3, 2), sale(3, 9), first, back] })).count, 0);
  });

  it("names the pair if the totals prove it, although units may have been given back", () => {
    const back = op({ outcome: "error", writeNs: 1, invokedNs: 1, answeredNs: 5 });
    const sales = [sale(3, 2, "node-1"), sale(3, 9, "node-2")];
    const end = { final: 99, orders: sales.map((line) => rowOf(line)) };
    const found = checkLostUpdates(history({ ops: [...sales, back], end }));
    assert.deepEqual([found.count, sentencesOf(found)], [1, ["node-1 read 3, node-2 read 3, both wrote 2."]]);
  });

  it("doubts a pair in an incomplete history, because the line of a give-back may be missing", () => {
    const ops = [sale(3, 2), sale(3, 9)];
    const found = checkLostUpdates(history({ ops, isComplete: false }));
    assert.deepEqual([found.count, found.doubts?.length], [0, 1]);
    const locked = ops.map((line) => op({ ...line, grantedNs: 0 }));
    assert.equal(checkLostUpdates(history({ ops: locked, isComplete: false })).count, 1, "a lock gives nothing back");
    const end = { final: 99, orders: ops.map((line) => rowOf(line)) };
    assert.equal(checkLostUpdates(history({ ops, end, isComplete: false })).count, 1, "the totals prove it");
  });

  it("lists each overwritten sale once if three purchases wrote from one value", () => {
    const at = (ns: number) => ({ readNs: 1, writeNs: ns, committedNs: ns + 1 });
    const ops = [10, 20, 30].map((ns, index) => {
      return op({ opId: `s-${index}`, readValue: 3, writtenValue: 2, writeAccepted: true, ...at(ns) });
    });
    const found = checkLostUpdates(history({ ops, run: { initial: 3 }, end: ends(2, ops) }));
    assert.equal(found.count, 2);
    assert.deepEqual(
      found.findings.map(({ covers = 1 }) => covers),
      [1, 1],
    );
  });

  it("covers no more sales than the totals and the pairs prove", () => {
    const time = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 15 }));
    fc.assert(
      fc.property(fc.array(time, { minLength: 1, maxLength: 12 }), (times) => {
        const events = times.flatMap(([from, length], index) => [
          { at: from, index, isWrite: false },
          { at: from + length, index, isWrite: true },
        ]);
        events.sort((a, b) => a.at - b.at);
        let stock = 20;
        const reads: number[] = [];
        for (const { index, isWrite } of events) {
          if (isWrite) stock = (reads[index] ?? 0) - 1;
          else reads[index] = stock;
        }
        const ops = times.map(([from, length], index) => {
          const readValue = reads[index] ?? 0;
          const written = { writeNs: (from + length) * 10, writtenValue: readValue - 1, writeAccepted: true };
          return op({ readNs: from * 10 + 5, readValue, ...written, committedNs: (from + length) * 10 + 2 });
        });
        const { count, findings } = checkLostUpdates(history({ ops, run: { initial: 20 }, end: ends(stock, ops) }));
        assert.equal(count, ops.length - (20 - stock));
        const covered = findings.reduce((sum, { covers = 1 }) => sum + covers, 0);
        assert.ok(covered <= count, `expected at most ${count} covered sales, found ${covered}`);
      }),
    );
  });

  it("counts the larger of what totals and pairs prove", () => {
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
