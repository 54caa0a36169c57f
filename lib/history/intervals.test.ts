import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { flightsOf, peakInFlight, peakOverlap, waitsOf } from "./intervals";
import { history, op } from "./testing/make-history";

const between = (from: number, to: number) => ({ from, to });

describe("peakOverlap", () => {
  it("counts the largest number of intervals open at the same time", () => {
    assert.equal(peakOverlap([between(0, 10), between(2, 5), between(4, 6), between(7, 9)]), 3);
    assert.equal(peakOverlap([]), 0);
  });

  it("does not count an interval that starts where another ends", () => {
    assert.equal(peakOverlap([between(0, 5), between(5, 9)]), 1);
  });

  it("matches a count at every start", () => {
    const interval = fc
      .tuple(fc.nat(50), fc.integer({ min: 1, max: 20 }))
      .map(([at, length]) => between(at, at + length));
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 30 }), (intervals) => {
        const openAt = (at: number) => intervals.filter(({ from, to }) => from <= at && at < to).length;
        const brute = Math.max(0, ...intervals.map(({ from }) => openAt(from)));
        assert.equal(peakOverlap(intervals), brute);
      }),
    );
  });
});

describe("peakInFlight", () => {
  it("counts a purchase without an answer as in flight until the end", () => {
    const ops = [op({ invokedNs: 0 }), op({ invokedNs: 5, answeredNs: 9 })];
    assert.equal(peakInFlight(history({ ops }).ops), 2);
  });

  it("does not add purchases of different hosts", () => {
    const ops = [op({ invokedNs: 0, answeredNs: 9, host: "a" }), op({ invokedNs: 0, answeredNs: 9, host: "b" })];
    assert.equal(peakInFlight(history({ ops }).ops), 1);
  });
});

describe("waits and flights", () => {
  it("end a wait at the grant, at the read if there is no lock, or at the answer", () => {
    const ends = { answeredNs: 9 };
    const ops = [
      op({ waitNs: 1, grantedNs: 3, readNs: 4, ...ends }),
      op({ waitNs: 1, readNs: 4, ...ends }),
      op({ waitNs: 1, ...ends }),
      op(ends),
      op({ waitNs: 1, grantedNs: 1, ...ends }),
    ];
    const { ops: read } = history({ ops });
    assert.deepEqual(waitsOf(read), [between(1, 3), between(1, 4), between(1, 9)]);
    assert.equal(flightsOf(read).length, 5);
  });
});
