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
const facts = (ops: readonly HistoryOpLine[], orders: readonly HistoryOrder[], isComplete = true) =>
  history({ ops, end: { final: 0, orders }, isComplete });

describe("checkAcknowledgedRows", () => {
  const sold = op({ orderId: "7", buyerId: "ann" });

  it("asks for exactly one row", () => {
    assert.equal(checkAcknowledgedRows(facts([sold], [rowOf(sold, "7")])).count, 0);
    assert.equal(checkAcknowledgedRows(facts([sold], [])).count, 1);
    assert.equal(checkAcknowledgedRows(facts([sold], [rowOf(sold, "7"), rowOf(sold, "8")])).count, 1);
  });

  it("asks for the row that was promised, to its buyer, over its quantity", () => {
    const row = rowOf(sold, "7");
    for (const wrong of [{ orderId: "8" }, { buyerId: "bob" }, { quantity: 2 }]) {
      assert.equal(checkAcknowledgedRows(facts([sold], [{ ...row, ...wrong }])).count, 1, JSON.stringify(wrong));
    }
  });

  it("finds two purchases that were told of one row", () => {
    const other = op({ orderId: "7", buyerId: "bob" });
    const found = checkAcknowledgedRows(facts([sold, other], [rowOf(sold, "7")]));
    assert.deepEqual(sentencesOf(found), [
      'node-1 (bob) was told "sold" and given order 7, which another purchase made for ann.',
    ]);
  });

  it("goes by the call of a purchase that was answered sold, whichever of them it was", () => {
    const key = { buyerId: "ann", idempotencyKey: "k", node: "node-2" };
    const first = op({ ...key, node: "node-1", quantity: 2, outcome: "contended", answeredNs: 5 });
    const second = op({ ...key, orderId: "7", answeredNs: 9 });
    const { findings } = checkAcknowledgedRows(facts([first, second], []));
    assert.deepEqual(
      findings.map(({ atNs, opIds, sentence }) => [atNs, opIds, sentence]),
      [["9", [first.opId, second.opId], 'node-2 (ann) was told "sold" and has no order.']],
    );
    assert.equal(checkAcknowledgedRows(facts([first, second], [rowOf(second, "7")])).count, 0);
    assert.equal(checkAcknowledgedRows(facts([first, second], [rowOf(second, "8")])).count, 1);
  });

  it("lets a repeated call be answered with the first call's row, once", () => {
    const key = { buyerId: "ann", idempotencyKey: "k" };
    const [first, again] = [op({ ...key, outcome: "unknown" }), op({ ...key, orderId: "7" })];
    assert.equal(checkAcknowledgedRows(facts([first, again], [rowOf(first, "7")])).count, 0);
    assert.equal(checkAcknowledgedRows(facts([first, again], [rowOf(first, "6"), rowOf(again, "7")])).count, 1);
    const stranger = { ...again, buyerId: "bob" };
    assert.equal(checkAcknowledgedRows(facts([first, stranger], [rowOf(first, "7")])).count, 1);
  });

  it("finds the row that names no purchase by the answer that names the row", () => {
    assert.equal(checkAcknowledgedRows(facts([sold], [{ ...rowOf(sold, "7"), opId: "" }])).count, 0);
  });

  it("knows nothing without the rows", () => {
    assert.equal(checkAcknowledgedRows(history({ ops: [sold], end: null })).count, 0);
  });
});

describe("checkUnknownRows", () => {
  it("lets a purchase of unknown outcome have no row or one, never two", () => {
    const lost = op({ outcome: "unknown" });
    const rows = (count: number) => Array.from({ length: count }, (_, index) => rowOf(lost, `${index}`));
    for (const [count, found] of [
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 1],
    ] as const) {
      assert.equal(checkUnknownRows(facts([lost], rows(count))).count, found, `${count} rows`);
    }
  });

  it("adds up the rows of repeated calls that were never answered", () => {
    const key = { buyerId: "ann", idempotencyKey: "k", outcome: "unknown" } as const;
    const [first, again] = [op(key), op(key)];
    assert.equal(checkUnknownRows(facts([first, again], [rowOf(first), rowOf(again)])).count, 1);
  });
});

describe("checkRefusedRows", () => {
  for (const outcome of REFUSALS) {
    it(`lets a purchase that was answered ${outcome} have no row`, () => {
      const refused = op({ outcome });
      assert.equal(checkRefusedRows(facts([refused], [])).count, 0);
      assert.equal(checkRefusedRows(facts([refused], [rowOf(refused)])).count, 1);
    });
  }

  it("lets a refused call be followed by a repeat that sells", () => {
    const key = { buyerId: "ann", idempotencyKey: "k" };
    const [first, again] = [op({ ...key, outcome: "contended" }), op(key)];
    assert.equal(checkRefusedRows(facts([first, again], [rowOf(again)])).count, 0);
  });
});

describe("checkStrayRows", () => {
  const sold = op();
  const stray = { orderId: "9", opId: "nobody", buyerId: "eve", quantity: 1 };

  it("finds a row that no purchase asked for, in a complete history only", () => {
    const found = checkStrayRows(facts([sold], [rowOf(sold), stray]));
    assert.deepEqual(sentencesOf(found), ["Order 9 of eve names nobody, which is not among the purchases."]);
    assert.equal(checkStrayRows(facts([sold], [rowOf(sold), stray], false)).count, 0);
  });

  it("finds a row that names no purchase and that no answer names", () => {
    assert.equal(checkStrayRows(facts([sold], [rowOf(sold), { ...stray, opId: "" }])).count, 1);
  });
});

describe("the four checks of rows", () => {
  it("find something exactly when some purchase has another number of rows than its outcome allows", () => {
    const outcome = fc.constantFrom<OperationOutcome>("sold", "unknown", ...REFUSALS);
    fc.assert(
      fc.property(fc.array(fc.tuple(outcome, fc.nat(3)), { maxLength: 8 }), fc.nat(2), (purchases, strays) => {
        const ops = purchases.map(([answer]) => op({ outcome: answer }));
        const rows = purchases.flatMap(([, count], index) =>
          Array.from({ length: count }, (_, row) => rowOf(ops[index] ?? op(), `${index}-${row}`)),
        );
        const all = facts(ops, [...rows, ...Array.from({ length: strays }, (_, row) => rowOf(op(), `stray-${row}`))]);
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
