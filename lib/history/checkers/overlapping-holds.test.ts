import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkOverlappingHolds } from "./overlapping-holds";

const hold = (from: number | string, to: number | string, fields: OpFields = {}) =>
  op({ grantedNs: from, releasedNs: to, outcome: "error", ...fields });
const check = (...ops: ReturnType<typeof op>[]) => checkOverlappingHolds(history({ ops }));

describe("checkOverlappingHolds", () => {
  it("finds nothing if each hold ends before or when the next starts", () => {
    assert.equal(check(hold(5, 9), hold(0, 5)).count, 0);
  });

  it("counts a hold within a long one although a short one lies between", () => {
    assert.equal(check(hold(0, 100), hold(10, 20), hold(50, 60)).count, 2);
  });

  it("counts two grants at the same instant once", () => {
    assert.equal(check(hold(5, 9), hold(5, 9)).count, 1);
  });

  it("allows a hold of zero length at the start of another, but not within it", () => {
    assert.equal(check(hold(5, 9), hold(5, 5)).count, 0);
    assert.equal(check(hold(3, 9), hold(5, 5)).count, 1);
  });

  it("ends a shared hold with its last operation", () => {
    const shared = [hold(0, 10, { holderId: "x" }), hold(2, 5, { holderId: "x" })];
    assert.equal(check(...shared, hold(8, 12)).count, 1);
    assert.equal(check(...shared.reverse(), hold(8, 12)).count, 1);
    assert.equal(check(...shared, hold(10, 12)).count, 0);
  });

  it("counts all overlaps if one holder has no token", () => {
    const token = (fencingToken: number) => ({ fencingToken });
    const fenced = [hold(0, 10, token(1)), hold(5, 9, token(2))];
    assert.equal(check(...fenced).count, 0);
    assert.equal(check(...fenced, hold(20, 30), hold(25, 28, token(3))).count, 2);
  });

  it("finds no overlap between hosts if one purchase held no lock", () => {
    const sale = (host: string, fields: OpFields) =>
      op({ host, readValue: 7, writtenValue: 6, writeAccepted: true, committedNs: 9, ...fields });
    assert.equal(check(sale("a", {}), sale("b", { grantedNs: 1, releasedNs: 10 })).count, 0);
    assert.equal(check(sale("a", { grantedNs: 1 }), sale("b", { grantedNs: 1 })).count, 1);
  });

  it("ends a hold without a release at its answer or its last recorded time", () => {
    const dead = op({ grantedNs: 0, answeredNs: 30 });
    assert.equal(check(dead, hold(20, 40)).count, 1);
    const cut = op({ grantedNs: 0, readNs: 10, outcome: "unknown" });
    assert.equal(check(cut, hold(5, 9)).count, 1);
    assert.equal(check(cut, hold(20, 40)).count, 0);
  });

  it("finds no overlap if the server ended a transaction before its busy node recorded the grant", () => {
    const next = hold(3, 20, { transactional: true, outcome: "sold" });
    for (const outcome of ["error", "unknown"] as const) {
      const cut = (fields: OpFields) =>
        hold(5, 9, { waitNs: 0, answeredNs: 30, transactional: true, outcome, ...fields });
      assert.equal(check(cut({}), next).count, 0);
      assert.equal(check(cut({ leaseLostNs: 8 }), next).count, 0);
      assert.equal(
        check(cut({ readNs: 7 }), next).count,
        1,
        "expected an overlap: the server answered a read in between",
      );
    }
    const committed = hold(5, 9, { answeredNs: 30, transactional: true, outcome: "sold_out" });
    assert.equal(check(committed, next).count, 1, "expected an overlap: the transaction did not fail");
  });

  it("ends the hold of a failed transaction at its grant, because the server may have ended it then", () => {
    const times = { readNs: 10, answeredNs: 60, transactional: true } as const;
    for (const outcome of ["error", "unknown"] as const) {
      assert.equal(check(hold(0, 50, { ...times, outcome }), hold(5, 30)).count, 0);
    }
    assert.equal(check(hold(0, 50, { ...times, outcome: "sold" }), hold(20, 30)).count, 1);
    assert.equal(check(hold(0, 50, { ...times, transactional: false }), hold(20, 30)).count, 1);
  });

  it("ends a hold when the holder detects that its lease is lost", () => {
    assert.equal(check(hold(0, 50, { leaseLostNs: 10 }), hold(20, 30)).count, 0);
    assert.equal(check(hold(0, 50, { leaseLostNs: 25 }), hold(20, 30)).count, 1);
  });

  it("treats purchases with the same holderId as one hold", () => {
    assert.equal(check(hold(0, 9, { holderId: "x" }), hold(3, 5, { holderId: "x" })).count, 0);
    assert.equal(check(hold(0, 9, { holderId: "x" }), hold(3, 5, { holderId: "y" })).count, 1);
  });

  it("compares times above 2^53 exactly", () => {
    const at = (offset: bigint) => (9_007_199_254_740_993n + offset).toString();
    assert.equal(check(hold(at(0n), at(1n)), hold(at(1n), at(2n))).count, 0);
    assert.equal(check(hold(at(0n), at(2n)), hold(at(1n), at(2n))).count, 1);
  });

  it("does not compare the clocks of two hosts", () => {
    assert.equal(check(hold(0, 9, { host: "a" }), hold(3, 5, { host: "b" })).count, 0);
  });

  it("finds an overlap between hosts if both holders wrote from the same value", () => {
    const writer = (host: string, grantedNs?: number) =>
      op({ host, grantedNs, node: host, readValue: 4, writtenValue: 3, writeNs: 6, writeAccepted: true });
    assert.deepEqual(sentencesOf(check(writer("a", 5), writer("b", 5))), [
      "b acquired the lock while a held it: a read 4, b read 4, both wrote 3.",
    ]);
    assert.equal(check(writer("a"), writer("b")).count, 0, "expected no overlap without a grant");
  });

  it("reports overlaps as remarks if every accepted write carried a token and none was stale", () => {
    const first = hold(0, 9, { fencingToken: 1 });
    const second = hold(3, 12, { fencingToken: 2, readNs: 4, readValue: 5, writeNs: 5, writeAccepted: true });
    const harmless = check(first, second);
    assert.equal(harmless.count, 0);
    assert.deepEqual(
      harmless.findings.map(({ kind }) => kind),
      ["fencedOverlap"],
    );
    const stale = { writeNs: 6, writeAccepted: true };
    assert.equal(
      check({ ...first, writeNs: "6", writeAccepted: true }, second).count,
      1,
      "expected a violation: a stale write was accepted",
    );
    assert.equal(check(hold(0, 9), second).count, 1, "expected a violation: one holder had no token");
    assert.equal(check(first, second, op({ ...stale })).count, 1, "expected a violation: one write carried no token");
    const unchecked = history({ ops: [first, second], run: { fencing: false } });
    assert.equal(checkOverlappingHolds(unchecked).count, 1, "expected a violation: the resource did not check tokens");
  });

  it("is zero for consecutive holds and counts every hold that starts within an earlier one", () => {
    const span = fc.tuple(fc.nat(20), fc.nat(9));
    fc.assert(
      fc.property(fc.array(span, { maxLength: 15 }), (spans) => {
        let at = 0;
        const apart = spans.map(([pause, length]) => {
          const from = at + pause;
          at = from + length;
          return hold(from, at);
        });
        assert.equal(check(...apart).count, 0);

        const sorted = spans.map(([from, length]) => ({ from, to: from + length }));
        sorted.sort((a, b) => a.from - b.from || a.to - b.to);
        const overlapping = sorted.filter(({ from }, index) =>
          sorted.slice(0, index).some((earlier) => from < earlier.to),
        );
        assert.equal(check(...sorted.map(({ from, to }) => hold(from, to))).count, overlapping.length);
      }),
    );
  });
});
