import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { countOverlappingHolds, countStaleWrites, firstLostUpdate, jainIndex, peakOverlap } from "./checkers";
import type { HistoryOpLine } from "./types";

let made = 0;
function op(fields: Partial<HistoryOpLine>): HistoryOpLine {
  made += 1;
  const base = {
    type: "op",
    opId: `op-${made}`,
    node: "node-1",
    host: "h",
    buyerId: `b-${made}`,
    quantity: 1,
  } as const;
  return { ...base, invokedNs: "0", outcome: "sold", ...fields };
}

describe("peakOverlap", () => {
  it("counts the most intervals open at once", () => {
    const intervals = [
      { from: 0n, to: 10n },
      { from: 2n, to: 5n },
      { from: 4n, to: 6n },
      { from: 7n, to: 9n },
    ];
    assert.equal(peakOverlap(intervals), 3);
  });

  it("does not count an interval that starts where another ends", () => {
    assert.equal(
      peakOverlap([
        { from: 0n, to: 5n },
        { from: 5n, to: 9n },
      ]),
      1,
    );
  });

  it("agrees with counting at every start", () => {
    const interval = fc
      .tuple(fc.bigInt(0n, 50n), fc.bigInt(1n, 20n))
      .map(([from, length]) => ({ from, to: from + length }));
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 30 }), (intervals) => {
        const openAt = (at: bigint) => intervals.filter(({ from, to }) => from <= at && at < to).length;
        const brute = Math.max(0, ...intervals.map(({ from }) => openAt(from)));
        assert.equal(peakOverlap(intervals), brute);
      }),
    );
  });
});

describe("countOverlappingHolds", () => {
  const hold = (from: number, to: number) => op({ grantedNs: String(from), releasedNs: String(to) });

  it("finds none where each hold ends before the next begins", () => {
    assert.equal(countOverlappingHolds([hold(5, 9), hold(0, 5)]), 0);
  });

  it("counts a hold inside a long one although a short one lies between", () => {
    assert.equal(countOverlappingHolds([hold(0, 100), hold(10, 20), hold(50, 60)]), 2);
  });

  it("lets a hold without a release end at its answer", () => {
    const dead = op({ grantedNs: "0", answeredNs: "30" });
    assert.equal(countOverlappingHolds([dead, hold(20, 40)]), 1);
  });

  it("compares times beyond 2^53 exactly", () => {
    const base = 9_007_199_254_740_993n;
    const at = (offset: bigint) => (base + offset).toString();
    const touching = [op({ grantedNs: at(0n), releasedNs: at(1n) }), op({ grantedNs: at(1n), releasedNs: at(2n) })];
    assert.equal(countOverlappingHolds(touching), 0);
  });

  it("is zero exactly when the holds are disjoint", () => {
    const gap = fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(fc.array(gap, { maxLength: 20 }), (gaps) => {
        let at = 0;
        const holds = gaps.map(([pause, length]) => {
          const from = at + pause;
          at = from + length;
          return hold(from, at);
        });
        assert.equal(countOverlappingHolds(holds), 0);
      }),
    );
  });
});

describe("countStaleWrites", () => {
  const write = (committed: number, token: number) =>
    op({ writeAccepted: true, committedNs: String(committed), fencingToken: String(token) });

  it("finds none while tokens rise", () => {
    assert.equal(countStaleWrites([write(3, 3), write(1, 1), write(2, 2)]), 0);
  });

  it("counts an accepted write that carries an older token", () => {
    assert.equal(countStaleWrites([write(1, 1), write(2, 5), write(3, 4)]), 1);
  });

  it("counts an accepted write after the lease was known lost", () => {
    const late = op({ writeAccepted: true, committedNs: "9", writeNs: "8", leaseLostNs: "7" });
    const inTime = op({ writeAccepted: true, committedNs: "9", writeNs: "6", leaseLostNs: "7" });
    assert.equal(countStaleWrites([late, inTime]), 1);
  });

  it("ignores a stale write that was refused", () => {
    const refused = op({ writeAccepted: false, writeNs: "3", fencingToken: "1" });
    assert.equal(countStaleWrites([write(1, 1), write(2, 5), refused]), 0);
  });
});

describe("firstLostUpdate", () => {
  it("names the two that read the same value and both wrote", () => {
    const first = op({ readValue: 17, writeAccepted: true, committedNs: "1" });
    const other = op({ readValue: 16, writeAccepted: true, committedNs: "2" });
    const second = op({ readValue: 17, writeAccepted: true, committedNs: "3" });
    assert.deepEqual(firstLostUpdate([second, other, first]), [first, second]);
  });

  it("is null when every writer read another value", () => {
    const writers = [17, 16, 15].map((readValue, index) =>
      op({ readValue, writeAccepted: true, committedNs: String(index) }),
    );
    assert.equal(firstLostUpdate(writers), null);
  });
});

describe("jainIndex", () => {
  it("is 1 when all waited alike, 1/n when one did all the waiting, null when nobody waited", () => {
    assert.equal(jainIndex([5, 5, 5, 5]), 1);
    assert.equal(jainIndex([8, 0, 0, 0]), 0.25);
    assert.equal(jainIndex([0, 0]), null);
    assert.equal(jainIndex([]), null);
  });
});
