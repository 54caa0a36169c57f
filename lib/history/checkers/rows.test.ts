import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, op, rowOf, sentencesOf } from "../testing/make-history";
import type { HistoryOpLine, HistoryOrder, OperationOutcome } from "../types";
import { checkAcknowledgedRows } from "./acknowledged-rows";
import { checkRefusedRows } from "./refused-rows";
import { checkStrayRows } from "./stray-rows";
import { checkUnknownRows } from "./unknown-rows";

const REFUSALS: readonly OperationOutcome[] = ["sold_out", "contended", "rejected", "error"];
const historyWith = (ops: readonly HistoryOpLine[], orders: readonly HistoryOrder[], isComplete = true) =>
  history({ ops, end: { final: 0, orders }, isComplete });

describe("checkAcknowledgedRows", () => {
  const sold = op({ orderId: "7", buyerId: "ann" });

  it("requires exactly one row", () => {
    assert.equal(checkAcknowledgedRows(historyWith([sold], [rowOf(sold, "7")])).count, 0);
    assert.equal(checkAcknowledgedRows(historyWith([sold], [])).count, 1);
    assert.equal(checkAcknowledgedRows(historyWith([sold], [rowOf(sold, "7"), rowOf(sold, "8")])).count, 1);
  });

  it("requires the order, buyer and quantity of the answer", () => {
    const row = rowOf(sold, "7");
    for (const wrong of [{ orderId: "8" }, { buyerId: "bob" }, { quantity: 2 }]) {
      assert.equal(checkAcknowledgedRows(historyWith([sold], [{ ...row, ...wrong }])).count, 1, JSON.stringify(wrong));
    }
  });

  it("finds two answers that name one order", () => {
    const other = op({ orderId: "7", buyerId: "bob" });
    const found = checkAcknowledgedRows(historyWith([sold, other], [rowOf(sold, "7")]));
    assert.deepEqual(sentencesOf(found), [
      'node-1 answered "sold" to bob, but order 7 belongs to another purchase, by ann.',
    ]);
  });

  it("reports the call that was answered sold if the purchase has several calls", () => {
    const key = { buyerId: "ann", idempotencyKey: "k", node: "node-2" };
    const first = op({ ...key, node: "node-1", quantity: 2, outcome: "contended", answeredNs: 5 });
    const second = op({ ...key, orderId: "7", answeredNs: 9 });
    const { findings } = checkAcknowledgedRows(historyWith([first, second], []));
    assert.deepEqual(
      findings.map(({ atNs, opIds, sentence }) => [atNs, opIds, sentence]),
      [["9", [first.opId, second.opId], 'node-2 answered "sold" to ann, but the database has no order.']],
    );
    assert.equal(checkAcknowledgedRows(historyWith([first, second], [rowOf(second, "7")])).count, 0);
    assert.equal(checkAcknowledgedRows(historyWith([first, second], [rowOf(second, "8")])).count, 1);
  });

  it("allows a repeated call to name the first call's order", () => {
    const key = { buyerId: "ann", idempotencyKey: "k" };
    const [first, repeat] = [op({ ...key, outcome: "unknown" }), op({ ...key, orderId: "7" })];
    assert.equal(checkAcknowledgedRows(historyWith([first, repeat], [rowOf(first, "7")])).count, 0);
    assert.equal(checkAcknowledgedRows(historyWith([first, repeat], [rowOf(first, "6"), rowOf(repeat, "7")])).count, 1);
    const otherBuyer = { ...repeat, buyerId: "bob" };
    assert.equal(checkAcknowledgedRows(historyWith([first, otherBuyer], [rowOf(first, "7")])).count, 1);
  });

  it("assigns a row without an opId to the answer that names the order", () => {
    assert.equal(checkAcknowledgedRows(historyWith([sold], [{ ...rowOf(sold, "7"), opId: "" }])).count, 0);
  });

  it("finds nothing without the rows", () => {
    assert.equal(checkAcknowledgedRows(history({ ops: [sold], end: null })).count, 0);
  });
});

describe("checkUnknownRows", () => {
  it("allows at most one row for a purchase of unknown outcome", () => {
    const lost = op({ outcome: "unknown" });
    const rows = (count: number) => Array.from({ length: count }, (_, index) => rowOf(lost, `${index}`));
    for (const [count, found] of [
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 1],
    ] as const) {
      assert.equal(checkUnknownRows(historyWith([lost], rows(count))).count, found, `${count} rows`);
    }
  });

  it("sums the rows of repeated calls without an answer", () => {
    const key = { buyerId: "ann", idempotencyKey: "k", outcome: "unknown" } as const;
    const [first, repeat] = [op(key), op(key)];
    assert.equal(checkUnknownRows(historyWith([first, repeat], [rowOf(first), rowOf(repeat)])).count, 1);
  });
});

describe("checkRefusedRows", () => {
  for (const outcome of REFUSALS) {
    it(`allows no row for a purchase answered ${outcome}`, () => {
      const refused = op({ outcome });
      assert.equal(checkRefusedRows(historyWith([refused], [])).count, 0);
      assert.equal(checkRefusedRows(historyWith([refused], [rowOf(refused)])).count, 1);
    });
  }

  it("allows a refused call followed by a repeat that sells", () => {
    const key = { buyerId: "ann", idempotencyKey: "k" };
    const [first, repeat] = [op({ ...key, outcome: "contended" }), op(key)];
    assert.equal(checkRefusedRows(historyWith([first, repeat], [rowOf(repeat)])).count, 0);
  });
});

describe("checkStrayRows", () => {
  const sold = op();
  const stray = { orderId: "9", opId: "op-unknown", buyerId: "eve", quantity: 1 };

  it("finds a row without a purchase, in a complete history only", () => {
    const found = checkStrayRows(historyWith([sold], [rowOf(sold), stray]));
    assert.deepEqual(sentencesOf(found), ["Order 9 of eve names purchase op-unknown, which is not in the history."]);
    assert.equal(checkStrayRows(historyWith([sold], [rowOf(sold), stray], false)).count, 0);
  });

  it("finds a row without an opId that no answer names", () => {
    assert.equal(checkStrayRows(historyWith([sold], [rowOf(sold), { ...stray, opId: "" }])).count, 1);
  });
});

describe("the four checks of rows", () => {
  it("count exactly the purchases whose number of rows does not match their outcome", () => {
    const outcome = fc.constantFrom<OperationOutcome>("sold", "unknown", ...REFUSALS);
    fc.assert(
      fc.property(fc.array(fc.tuple(outcome, fc.nat(3)), { maxLength: 8 }), fc.nat(2), (purchases, strays) => {
        const ops = purchases.map(([answer]) => op({ outcome: answer }));
        const rows = purchases.flatMap(([, count], index) =>
          Array.from({ length: count }, (_, row) => rowOf(ops[index] ?? op(), `${index}-${row}`)),
        );
        const all = historyWith(ops, [
          ...rows,
          ...Array.from({ length: strays }, (_, row) => rowOf(op(), `stray-${row}`)),
        ]);
        const wrong = (answers: readonly string[], allowed: (rows: number) => boolean) =>
          purchases.filter(([answer, count]) => answers.includes(answer) && !allowed(count)).length;
        assert.equal(
          checkAcknowledgedRows(all).count,
          wrong(["sold"], (count) => count === 1),
        );
        assert.equal(
          checkUnknownRows(all).count,
          wrong(["unknown"], (count) => count <= 1),
        );
        assert.equal(
          checkRefusedRows(all).count,
          wrong(REFUSALS, (count) => count === 0),
        );
        assert.equal(checkStrayRows(all).count, strays);
      }),
    );
  });
});
