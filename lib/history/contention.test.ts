import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { contendedSections } from "./contention";
import { readOperations } from "./operation";
import { type OpFields, op } from "./testing/make-history";

const count = (...all: readonly OpFields[]) => contendedSections(readOperations(all.map((fields) => op(fields))));
const error = { invokedNs: 0, answeredNs: 100, outcome: "error" } as const;
const hold = (from: number, to: number): OpFields => ({
  waitNs: from,
  grantedNs: from,
  releasedNs: to,
  answeredNs: to,
});
const write = (from: number, to: number): OpFields => ({
  readNs: from,
  readValue: 5,
  writeNs: from + 1,
  committedNs: to,
});

describe("contendedSections", () => {
  it("is zero if sales followed one another, however many requests were in flight", () => {
    assert.equal(count(error, error, hold(0, 10), hold(10, 20)), 0);
    assert.equal(count(error, error, write(0, 10), write(10, 20)), 0);
    assert.equal(count(error, error), 0);
  });

  it("counts a hold during which another purchase waited, whether or not it got the lock", () => {
    const waiter = { waitNs: 5, answeredNs: 30, outcome: "contended" } as const;
    assert.equal(count(hold(0, 10), waiter), 1);
    assert.equal(count(hold(0, 10), { ...hold(10, 20), waitNs: 9 }), 1);
    assert.equal(count(hold(0, 10), { ...waiter, waitNs: 10 }), 0);
  });

  it("counts a write during which another purchase read or wrote", () => {
    const reader = { readNs: 5, readValue: 5, outcome: "sold_out" } as const;
    assert.equal(count(write(0, 10), reader), 1);
    assert.equal(count(write(0, 10), { ...reader, readNs: 10 }), 0);
    assert.equal(count(write(0, 10), write(9, 20)), 2);
    assert.equal(count(write(0, 10), { writeNs: 5, writeAccepted: false, answeredNs: 12, outcome: "sold_out" }), 1);
  });

  it("counts two holders at once", () => {
    assert.equal(count(hold(0, 10), hold(5, 20)), 2);
  });

  it("does not count purchases that share a hold as rivals", () => {
    const shared = (from: number, to: number) => ({ ...hold(from, to), holderId: "batch" });
    assert.equal(count(shared(0, 10), shared(0, 8)), 0);
    assert.equal(count(shared(0, 10), shared(0, 8), hold(5, 6)), 2);
  });

  it("does not compare the clocks of two hosts", () => {
    assert.equal(count({ ...hold(0, 10), host: "a" }, { ...hold(5, 20), host: "b" }), 0);
  });

  it("equals a comparison of every hold with every other purchase", () => {
    const purchase = fc.record({ wait: fc.nat(12), delay: fc.nat(6), length: fc.nat(6), isServed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(purchase, { maxLength: 12 }), (purchases) => {
        const spans = purchases.map(({ wait, delay, length, isServed }) => {
          const granted = wait + delay;
          return { wait, granted, end: granted + (isServed ? length : 0), isServed };
        });
        const expected = spans.filter(
          ({ granted, end, isServed }, own) =>
            isServed &&
            granted < end &&
            spans.some((other, index) => index !== own && other.wait < end && other.end > granted),
        );
        const ops = spans.map(({ wait, granted, end, isServed }): OpFields => {
          if (!isServed) return { waitNs: wait, answeredNs: end, outcome: "contended" };
          return { waitNs: wait, grantedNs: granted, releasedNs: end, answeredNs: end };
        });
        assert.equal(count(...ops), expected.length);
      }),
    );
  });
});
