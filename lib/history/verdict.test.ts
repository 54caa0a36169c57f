import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contentionDoubts, isContended, verdictOf } from "./verdict";

describe("the verdict", () => {
  it("is unsafe if there is a violation, even with doubts", () => {
    assert.equal(verdictOf({ violations: { oversold: 1 }, doubts: [] }), "unsafe");
    assert.equal(verdictOf({ violations: { oversold: 0, staleWrites: 2 }, doubts: ["a doubt"] }), "unsafe");
  });

  it("is inconclusive if there are only doubts", () => {
    assert.equal(verdictOf({ violations: { oversold: 0 }, doubts: ["a doubt"] }), "inconclusive");
  });

  it("is safe without violations and doubts", () => {
    assert.equal(verdictOf({ violations: { oversold: 0 }, doubts: [] }), "safe");
  });
});

describe("the contention rule", () => {
  it("doubts a run unless two purchases were in flight at the same time", () => {
    assert.deepEqual(
      [0, 1, 2, 80].map((peakInFlight) => isContended({ peakInFlight })),
      [false, false, true, true],
    );
    assert.deepEqual(contentionDoubts({ operations: 2, peakInFlight: 2 }), []);
    const [doubt] = contentionDoubts({ operations: 2, peakInFlight: 1 });
    assert.equal(doubt?.kind, "noContention");
    assert.match(doubt?.sentence ?? "", /No two of the 2 purchases were in flight at the same time/);
  });

  it("names a run without purchases", () => {
    assert.match(contentionDoubts({ operations: 0, peakInFlight: 0 })[0]?.sentence ?? "", /No purchase was recorded/);
  });
});
