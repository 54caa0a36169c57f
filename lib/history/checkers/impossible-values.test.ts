import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import type { HistoryOpLine } from "../types";
import { checkTicketOrder } from "./ticket-order";

/** A sale by an atomic decrement: `value` is the counter before it. */
const sale = (from: number, value: number, fields: OpFields = {}) =>
  op({
    invokedNs: from,
    answeredNs: from + 2,
    readNs: from,
    readValue: value,
    writeNs: from,
    writtenValue: value - (typeof fields.quantity === "number" ? fields.quantity : 1),
    writeAccepted: true,
    ...fields,
  });
/** Took a unit, failed, and gave the unit back. */
const giveBack = (from: number) => op({ invokedNs: from, writeNs: from, answeredNs: from + 2, outcome: "error" });
const check = (ops: readonly HistoryOpLine[], initial: number, isComplete = true) =>
  checkTicketOrder(history({ ops, run: { initial }, isComplete }));

describe("impossible values are violations", () => {
  it("if a purchase read more than the initial stock", () => {
    const found = check([op({ outcome: "error", readValue: 6, answeredNs: 3 })], 5);
    assert.deepEqual(sentencesOf(found), ["node-1 read 6, but the run started with 5 units."]);
  });

  it("if a unit was given back twice, so that a value repeats after a sale", () => {
    const ops = [giveBack(0), sale(5, 3), sale(10, 3)];
    assert.equal(check(ops, 3).count, 1);
    assert.equal(check([giveBack(0), sale(5, 3), sale(10, 2)], 3).count, 0);
  });

  it("if two orders left the same stock and one value belongs to no write", () => {
    const ops = [sale(0, 4), sale(0, 3), sale(0, 3), sale(0, 1), giveBack(0)];
    assert.match(
      sentencesOf(check(ops, 4))[0] ?? "",
      /^Sales of 3 units left 2 or more of 4 in stock; node-1 sold to buyer-\d+ and left 2\.$/,
    );
    assert.equal(check([sale(0, 4), sale(0, 3), sale(0, 2), sale(0, 1), giveBack(0)], 4).count, 0);
  });

  it("if no other purchase can have taken the units above a value", () => {
    const ops = [sale(0, 5), sale(0, 3, { quantity: 2 }), sale(0, 2)];
    assert.match(
      sentencesOf(check(ops, 5))[0] ?? "",
      /from 3 left, but other purchases can have taken at most 1 of 5 units before\.$/,
    );
    assert.equal(check([...ops, giveBack(0)], 5).count, 0);
  });

  it("in an incomplete history too, because give-backs cannot explain them", () => {
    assert.equal(check([sale(5, 3), sale(10, 3)], 3, false).count, 1);
    assert.equal(check([sale(5, 3), sale(10, 4)], 3, false).count, 1);
  });
});
