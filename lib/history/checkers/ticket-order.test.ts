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
  it("finds a sale whose request follows a sold-out answer", () => {
    const found = check([at(0, 3), soldOut(4, 6), at(7, 9, { node: "node-2", buyerId: "late" })], 2);
    assert.match(
      sentencesOf(found)[0] ?? "",
      /^node-2 sold to late, although node-1 had answered "sold out" to buyer-\d+ before late's request\.$/,
    );
    assert.equal(found.count, 1);
  });

  it("allows either order of a sale and a refusal that overlap or touch", () => {
    assert.equal(check([at(0, 3), soldOut(4, 6), at(5, 9)], 2).count, 0);
    assert.equal(check([at(0, 3), soldOut(4, 6), at(6, 9)], 2).count, 0);
  });

  it("finds a refusal before enough units could have been sold", () => {
    assert.equal(check([at(0, 3), soldOut(4, 6)], 2).count, 1);
    assert.equal(
      check([at(0, 3), soldOut(4, 6)], 2, false).count,
      0,
      "expected no finding: the missing operation may have sold a unit",
    );
    assert.equal(check([at(0, 3), soldOut(4, 6, { quantity: 2 })], 2).count, 0);
  });

  it("uses the value that a refused purchase read if it is below the quantity", () => {
    const refused = (readValue: number, quantity: number) => soldOut(0, 2, { readValue, quantity });
    const [first, sale] = [op({ invokedNs: 0, answeredNs: 0, quantity: 2 }), at(4, 6)];
    assert.equal(check([refused(1, 2), sale], 1).count, 0, "expected no finding: 1 unit was left for a purchase of 1");
    assert.equal(
      check([first, refused(0, 2), sale], 3).count,
      1,
      "expected a finding: no unit was left, and 1 was sold",
    );
    assert.equal(
      check([refused(1, 1), sale], 1).count,
      1,
      "expected a finding: 1 unit was left, and the purchase was refused",
    );
  });

  it("reports vanished units once, and additional ones again", () => {
    const ticket = (from: number, readValue: number) => at(from, from + 1, { readValue });
    assert.equal(check([ticket(0, 7), ticket(2, 6), ticket(4, 5)], 10).count, 1);
    assert.equal(check([ticket(0, 7), ticket(2, 6), ticket(4, 2)], 10).count, 2);
  });

  it("allows a purchase of unknown outcome at any time after its request, or never", () => {
    const lost = at(0, 2, { outcome: "unknown" });
    assert.equal(check([at(0, 3), lost, soldOut(4, 6)], 2).count, 0);
    assert.equal(check([at(0, 3), lost, at(4, 6)], 2).count, 0);
    const late = at(5, 8, { outcome: "unknown" });
    assert.equal(check([at(0, 3), soldOut(4, 6), late], 2).count, 0);
    assert.equal(check([at(0, 3), soldOut(4, 6), at(7, 8, { outcome: "unknown" })], 2).count, 1);
  });

  it("counts a purchase of unknown outcome as sold if it has a row", () => {
    const [first, refused, lost] = [at(0, 3), soldOut(4, 6), at(7, 8, { outcome: "unknown" })];
    const orders = [first, lost].map(({ opId, buyerId }) => ({ orderId: opId, opId, buyerId, quantity: 1 }));
    const facts = { ops: [first, refused, lost], run: { initial: 2 }, end: { final: 0, orders } };
    assert.equal(checkTicketOrder(history(facts)).count, 1);
  });

  it("finds a higher ticket after a lower one, and the same ticket sold twice in sequence", () => {
    const ticket = (from: number, to: number, value: number) =>
      at(from, to, { readValue: value, writtenValue: value - 1, outcome: "sold" });
    assert.equal(check([ticket(0, 2, 9), ticket(1, 2, 10), ticket(0, 2, 8)], 10).count, 0);
    assert.equal(check([ticket(0, 2, 9), ticket(3, 5, 10)], 10).count, 1);
    assert.equal(check([ticket(0, 2, 10), ticket(3, 5, 10)], 10).count, 1);
  });

  it("finds a ticket lower than all requests can explain", () => {
    const gone = at(0, 2, { readValue: 7, writtenValue: 6 });
    assert.match(
      sentencesOf(check([gone], 10))[0] ?? "",
      /from 7 left when at most 0 of 10 units could have been sold/,
    );
  });

  it("reports a rise once and compares later purchases with the higher counter", () => {
    const ticket = (from: number, value: number) => at(from, from + 1, { readValue: value, writtenValue: value - 1 });
    assert.equal(check([ticket(0, 10), ticket(3, 9), ticket(6, 10), ticket(9, 9), ticket(12, 8)], 10).count, 1);
  });

  it("allows given-back units to be sold after a sold-out answer", () => {
    const back = at(0, 20, { outcome: "error", writeNs: 1 });
    assert.equal(check([back, soldOut(2, 8), at(30, 35)], 1).count, 0);
    assert.equal(
      check([at(0, 20, { outcome: "error" }), soldOut(2, 8), at(30, 35)], 1).count,
      1,
      "expected a finding: without a write there is no give-back",
    );
  });

  it("does not compare the clocks of two hosts", () => {
    assert.equal(check([at(50, 53, { host: "a" }), soldOut(4, 6, { host: "b" })], 1).count, 0);
  });
});

/** Few buyers and few instants, so that all orders of events occur, with ties. */
const counterOps = fc.array(
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

describe("checkTicketOrder compared with a search of every order", () => {
  const ofOne = fc.tuple(counterOps, fc.nat(4));

  it("finds a violation exactly if no order explains the answers, for purchases of one unit", () => {
    fc.assert(
      fc.property(ofOne, ([all, initial]) => {
        const sold = all.filter(({ outcome }) => outcome === "sold").length;
        const found = check(toOps(all), initial).count > 0 || sold > initial;
        assert.equal(found, !linearizable(all, initial));
      }),
      { numRuns: 2_000 },
    );
  });

  it("finds no violation if some order explains the answers, for any quantities", () => {
    const mixed = counterOps.chain((all) =>
      fc.tuple(...all.map((each) => fc.integer({ min: 1, max: 3 }).map((quantity) => ({ ...each, quantity })))),
    );
    fc.assert(
      fc.property(mixed, fc.nat(8), (all, initial) => {
        if (linearizable(all, initial)) assert.equal(check(toOps(all), initial).count, 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
