import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type CounterOp, linearizable } from "../testing/linearizable";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import type { HistoryOpLine } from "../types";
import { checkTicketOrder } from "./ticket-order";

const at = (invokedNs: number, answeredNs: number | undefined, fields: OpFields = {}) =>
  op({ invokedNs, ...(answeredNs === undefined ? {} : { answeredNs }), ...fields });
const soldOut = (from: number, to: number, fields: OpFields = {}) => at(from, to, { outcome: "sold_out", ...fields });
const check = (ops: readonly HistoryOpLine[], initial: number, isComplete = true) =>
  checkTicketOrder(history({ ops, run: { initial }, isComplete }));

describe("checkTicketOrder", () => {
  it("finds a sale after somebody had been told sold out", () => {
    const found = check([at(0, 3), soldOut(4, 6), at(7, 9, { node: "node-2", buyerId: "late" })], 2);
    assert.match(
      sentencesOf(found)[0] ?? "",
      /^node-2 sold to late, asked only after node-1 had told buyer-\d+ "sold out"\.$/,
    );
    assert.equal(found.count, 1);
  });

  it("lets a sale and a refusal that overlap, or touch, be in either order", () => {
    assert.equal(check([at(0, 3), soldOut(4, 6), at(5, 9)], 2).count, 0);
    assert.equal(check([at(0, 3), soldOut(4, 6), at(6, 9)], 2).count, 0);
  });

  it("finds a refusal that came before enough could have been sold", () => {
    assert.equal(check([at(0, 3), soldOut(4, 6)], 2).count, 1);
    assert.equal(check([at(0, 3), soldOut(4, 6)], 2, false).count, 0, "what is missing may have been sold");
    assert.equal(check([at(0, 3), soldOut(4, 6, { quantity: 2 })], 2).count, 0);
  });

  it("goes by what a refused buyer read, where it was less than they wanted", () => {
    const refused = (readValue: number, quantity: number) => soldOut(0, 2, { readValue, quantity });
    const [first, sale] = [op({ invokedNs: 0, answeredNs: 0, quantity: 2 }), at(4, 6)];
    assert.equal(check([refused(1, 2), sale], 1).count, 0, "one was left for who wanted one");
    assert.equal(check([first, refused(0, 2), sale], 3).count, 1, "none was left, and one was sold");
    assert.equal(check([refused(1, 1), sale], 1).count, 1, "one was left, and refused all the same");
  });

  it("counts units that went missing once, and further ones again", () => {
    const ticket = (from: number, readValue: number) => at(from, from + 1, { readValue });
    assert.equal(check([ticket(0, 7), ticket(2, 6), ticket(4, 5)], 10).count, 1);
    assert.equal(check([ticket(0, 7), ticket(2, 6), ticket(4, 2)], 10).count, 2);
  });

  it("lets a purchase of unknown outcome have happened, at any time after it was asked, or not", () => {
    const lost = at(0, 2, { outcome: "unknown" });
    assert.equal(check([at(0, 3), lost, soldOut(4, 6)], 2).count, 0);
    assert.equal(check([at(0, 3), lost, at(4, 6)], 2).count, 0);
    const late = at(5, 8, { outcome: "unknown" });
    assert.equal(check([at(0, 3), soldOut(4, 6), late], 2).count, 0);
    assert.equal(check([at(0, 3), soldOut(4, 6), at(7, 8, { outcome: "unknown" })], 2).count, 1);
  });

  it("knows by its row that a purchase of unknown outcome happened", () => {
    const [first, refused, lost] = [at(0, 3), soldOut(4, 6), at(7, 8, { outcome: "unknown" })];
    const orders = [first, lost].map(({ opId, buyerId }) => ({ orderId: opId, opId, buyerId, quantity: 1 }));
    const facts = { ops: [first, refused, lost], run: { initial: 2 }, end: { final: 0, orders } };
    assert.equal(checkTicketOrder(history(facts)).count, 1);
  });

  it("finds an older ticket sold after a newer one, and the same ticket sold twice in turn", () => {
    const ticket = (from: number, to: number, value: number) =>
      at(from, to, { readValue: value, writtenValue: value - 1, outcome: "sold" });
    assert.equal(check([ticket(0, 2, 9), ticket(1, 2, 10), ticket(0, 2, 8)], 10).count, 0);
    assert.equal(check([ticket(0, 2, 9), ticket(3, 5, 10)], 10).count, 1);
    assert.equal(check([ticket(0, 2, 10), ticket(3, 5, 10)], 10).count, 1);
  });

  it("finds a ticket that more must have been sold for than could have been", () => {
    const gone = at(0, 2, { readValue: 7, writtenValue: 6 });
    assert.match(
      sentencesOf(check([gone], 10))[0] ?? "",
      /from 7 left, when no more than 0 of 10 could have been sold/,
    );
  });

  it("reports a rise once, and measures what follows against the risen counter", () => {
    const ticket = (from: number, value: number) => at(from, from + 1, { readValue: value, writtenValue: value - 1 });
    assert.equal(check([ticket(0, 10), ticket(3, 9), ticket(6, 10), ticket(9, 9), ticket(12, 8)], 10).count, 1);
  });

  it("lets units that were taken and put back be sold after somebody had been told sold out", () => {
    const back = at(0, 20, { outcome: "error", writeNs: 1 });
    assert.equal(check([back, soldOut(2, 8), at(30, 35)], 1).count, 0);
    assert.equal(check([at(0, 20, { outcome: "error" }), soldOut(2, 8), at(30, 35)], 1).count, 1, "it never wrote");
  });

  it("does not compare the clocks of two hosts", () => {
    assert.equal(check([at(50, 53, { host: "a" }), soldOut(4, 6, { host: "b" })], 1).count, 0);
  });
});

/** Few buyers at few moments: every order of events turns up, with ties. */
const tries = fc.array(
  fc.record({
    from: fc.nat(8),
    length: fc.nat(4),
    outcome: fc.constantFrom("sold", "sold", "sold_out", "unknown", "contended"),
    quantity: fc.constant(1),
  }),
  { maxLength: 6 },
);

const toOps = (all: readonly CounterOp[]) =>
  all.map(({ from, length, outcome, quantity }) => at(from, from + length, { outcome, quantity }));

describe("checkTicketOrder beside a search of every order", () => {
  const ofOne = fc.tuple(tries, fc.nat(4));

  it("finds something exactly when there is none, for purchases of one unit", () => {
    fc.assert(
      fc.property(ofOne, ([all, initial]) => {
        const sold = all.filter(({ outcome }) => outcome === "sold").length;
        const found = check(toOps(all), initial).count > 0 || sold > initial;
        assert.equal(found, !linearizable(all, initial));
      }),
      { numRuns: 2_000 },
    );
  });

  it("never finds anything where there is one, whatever the quantities", () => {
    const mixed = tries.chain((all) =>
      fc.tuple(...all.map((one) => fc.integer({ min: 1, max: 3 }).map((quantity) => ({ ...one, quantity })))),
    );
    fc.assert(
      fc.property(mixed, fc.nat(8), (all, initial) => {
        if (linearizable(all, initial)) assert.equal(check(toOps(all), initial).count, 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
