import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkStaleWrites } from "./stale-writes";

const check = (ops: readonly ReturnType<typeof op>[], run = {}) => checkStaleWrites(history({ ops, run }));
/** An accepted write under a token, from `began` to `committed`. */
const write = ([began, committed]: readonly [number, number], fencingToken: number, fields: OpFields = {}) =>
  op({ grantedNs: 0, writeNs: began, committedNs: committed, fencingToken, writeAccepted: true, ...fields });

describe("checkStaleWrites", () => {
  it("finds none while tokens rise", () => {
    assert.equal(check([write([5, 6], 3), write([1, 2], 1), write([3, 4], 2)]).count, 0);
  });

  it("finds a write that began after a newer token's write had been answered, also when a later one follows", () => {
    const found = check([write([1, 2], 1), write([3, 4], 5, { node: "node-2" }), write([5, 6], 4), write([7, 8], 6)]);
    assert.deepEqual(sentencesOf(found), [
      "node-1 wrote the stock with fencing token 4 after node-2 had come with 5, and it was accepted.",
    ]);
  });

  it("finds a write that began after a newer token's read had been answered", () => {
    const reader = op({ grantedNs: 1, readNs: 4, readValue: 7, fencingToken: 2, outcome: "error" });
    assert.equal(check([write([5, 6], 1), reader]).count, 1);
    assert.equal(check([write([3, 6], 1), reader]).count, 0, "it may have landed before the read");
    assert.equal(check([write([4, 6], 1), reader]).count, 0, "at the same instant it may have landed before");
  });

  it("does not hold a slow reply against a write", () => {
    assert.equal(check([write([1, 9], 1), write([4, 5], 2)]).count, 0);
  });

  it("takes the commit for the moment of a write whose beginning was not recorded", () => {
    const at = (committedNs: number, fencingToken: number) => op({ writeAccepted: true, committedNs, fencingToken });
    assert.equal(check([at(1, 1), at(2, 5), at(3, 4)]).count, 1);
  });

  it("ignores a stale write that was refused", () => {
    assert.equal(
      check([write([1, 2], 5), op({ fencingToken: 1, writeNs: 4, writeAccepted: false, outcome: "error" })]).count,
      0,
    );
  });

  it("finds a write after the lease was known lost, or given back, where there is no token", () => {
    const holder = (fields: OpFields) => op({ grantedNs: 0, writeAccepted: true, committedNs: 9, ...fields });
    assert.equal(check([holder({ writeNs: 8, leaseLostNs: 7 })]).count, 1);
    assert.equal(check([holder({ writeNs: 6, leaseLostNs: 7 })]).count, 0);
    assert.equal(check([holder({ writeNs: 7, leaseLostNs: 7 })]).count, 0);
    assert.equal(check([holder({ writeNs: 8, releasedNs: 7 })]).count, 1);
  });

  it("leaves it to the resource where there is a token that it checks", () => {
    const late = [write([8, 9], 1, { leaseLostNs: 7 })];
    assert.equal(check(late).count, 0);
    assert.equal(check(late, { fencing: false }).count, 1);
  });

  it("takes no order from one instant, and holds nothing against who was never granted a lock", () => {
    const writer = (fields: OpFields) => op({ writeNs: 7, writeAccepted: true, committedNs: 9, ...fields });
    assert.equal(check([writer({ grantedNs: 0, releasedNs: 7 })]).count, 0);
    assert.equal(check([writer({ releasedNs: 3 })]).count, 0);
  });

  it("takes a read without a reply for no answer, and a write's reply where the read's moment is not known", () => {
    const late = write([5, 6], 1);
    const asked = op({ grantedNs: 1, readNs: 3, fencingToken: 2, outcome: "error" });
    assert.equal(check([late, asked]).count, 0);
    assert.equal(check([late, write([2, 3], 2, { readValue: 4 })]).count, 1);
  });

  it("finds between hosts exactly the writes from a value that a newer token of another had read, or written, before", () => {
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

  it("goes by the values between hosts: who read the lower value wrote later", () => {
    const on = (host: string, token: number, readValue: number) => write([1, 2], token, { host, readValue, readNs: 1 });
    assert.equal(check([on("a", 2, 10), on("b", 1, 9)]).count, 1);
    assert.equal(check([on("a", 1, 10), on("b", 2, 9)]).count, 0);
    assert.equal(check([on("a", 1, 10), on("b", 2, 10)]).count, 1, "the older of two that read one value");
  });

  it("finds exactly the writes that follow a newer one, when they follow one another", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 }), (tokens) => {
        const ops = tokens.map((token, index) => write([index * 10, index * 10 + 5], token));
        const stale = tokens.filter((token, index) => tokens.slice(0, index).some((earlier) => earlier > token));
        assert.equal(check(ops).count, stale.length);
      }),
    );
  });
});
