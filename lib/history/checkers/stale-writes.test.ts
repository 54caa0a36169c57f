import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkStaleWrites } from "./stale-writes";

const check = (ops: readonly ReturnType<typeof op>[], run = {}) => checkStaleWrites(history({ ops, run }));
/** An accepted write with a token, from `began` to `committed`. */
const write = ([began, committed]: readonly [number, number], fencingToken: number, fields: OpFields = {}) =>
  op({ grantedNs: 0, writeNs: began, committedNs: committed, fencingToken, writeAccepted: true, ...fields });

describe("checkStaleWrites", () => {
  it("finds nothing while tokens increase", () => {
    assert.equal(check([write([5, 6], 3), write([1, 2], 1), write([3, 4], 2)]).count, 0);
  });

  it("finds a write that started after a newer token's write was answered, also if a later write follows", () => {
    const found = check([write([1, 2], 1), write([3, 4], 5, { node: "node-2" }), write([5, 6], 4), write([7, 8], 6)]);
    assert.deepEqual(sentencesOf(found), [
      "The resource accepted a write by node-1 with fencing token 4 after node-2 had used token 5.",
    ]);
  });

  it("finds a write that started after a newer token's read was answered", () => {
    const reader = op({ grantedNs: 1, readNs: 4, readValue: 7, fencingToken: 2, outcome: "error" });
    assert.equal(check([write([5, 6], 1), reader]).count, 1);
    assert.equal(check([write([3, 6], 1), reader]).count, 0, "expected no finding: the write may precede the read");
    assert.equal(
      check([write([4, 6], 1), reader]).count,
      0,
      "expected no finding: at the same instant the write may precede the read",
    );
  });

  it("ignores a write whose reply was slow", () => {
    assert.equal(check([write([1, 9], 1), write([4, 5], 2)]).count, 0);
  });

  it("uses the commit time if the start of a write was not recorded", () => {
    const at = (committedNs: number, fencingToken: number) => op({ writeAccepted: true, committedNs, fencingToken });
    assert.equal(check([at(1, 1), at(2, 5), at(3, 4)]).count, 1);
  });

  it("ignores a rejected stale write", () => {
    assert.equal(
      check([write([1, 2], 5), op({ fencingToken: 1, writeNs: 4, writeAccepted: false, outcome: "error" })]).count,
      0,
    );
  });

  it("finds a write without a token after a detected lease loss or a release", () => {
    const holder = (fields: OpFields) => op({ grantedNs: 0, writeAccepted: true, committedNs: 9, ...fields });
    assert.equal(check([holder({ writeNs: 8, leaseLostNs: 7 })]).count, 1);
    assert.equal(check([holder({ writeNs: 6, leaseLostNs: 7 })]).count, 0);
    assert.equal(check([holder({ writeNs: 7, leaseLostNs: 7 })]).count, 0);
    assert.equal(check([holder({ writeNs: 8, releasedNs: 7 })]).count, 1);
  });

  it("ignores the lease if the resource checks the token", () => {
    const late = [write([8, 9], 1, { leaseLostNs: 7 })];
    assert.equal(check(late).count, 0);
    assert.equal(check(late, { fencing: false }).count, 1);
  });

  it("ignores equal times and purchases without a grant", () => {
    const writer = (fields: OpFields) => op({ writeNs: 7, writeAccepted: true, committedNs: 9, ...fields });
    assert.equal(check([writer({ grantedNs: 0, releasedNs: 7 })]).count, 0);
    assert.equal(check([writer({ releasedNs: 3 })]).count, 0);
  });

  it("ignores a read without a value, and uses the write's reply if the read has no time", () => {
    const late = write([5, 6], 1);
    const unanswered = op({ grantedNs: 1, readNs: 3, fencingToken: 2, outcome: "error" });
    assert.equal(check([late, unanswered]).count, 0);
    assert.equal(check([late, write([2, 3], 2, { readValue: 4 })]).count, 1);
  });

  it("finds between hosts exactly the writes from a value that a newer token of another host had already passed", () => {
    const writes = fc.record({ host: fc.constantFrom("a", "b", "c"), readValue: fc.nat(5), fencingToken: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(writes, { maxLength: 12 }), (all) => {
        const stale = all.filter(({ host, readValue, fencingToken }) =>
          all.some((other) => other.host !== host && other.readValue >= readValue && other.fencingToken > fencingToken),
        );
        const ops = all.map(({ fencingToken, ...rest }) => write([1, 2], fencingToken, { ...rest, readNs: 1 }));
        assert.equal(check(ops).count, stale.length);
      }),
    );
  });

  it("orders writes of different hosts by the values read", () => {
    const on = (host: string, token: number, readValue: number) => write([1, 2], token, { host, readValue, readNs: 1 });
    assert.equal(check([on("a", 2, 10), on("b", 1, 9)]).count, 1);
    assert.equal(check([on("a", 1, 10), on("b", 2, 9)]).count, 0);
    assert.equal(
      check([on("a", 1, 10), on("b", 2, 10)]).count,
      1,
      "expected the older token of two that read the same value",
    );
  });

  it("finds exactly the writes that follow a newer token, if writes do not overlap", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 }), (tokens) => {
        const ops = tokens.map((token, index) => write([index * 10, index * 10 + 5], token));
        const stale = tokens.filter((token, index) => tokens.slice(0, index).some((earlier) => earlier > token));
        assert.equal(check(ops).count, stale.length);
      }),
    );
  });
});
