import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { roundTop } from "./value-axis";

describe("the top of a value axis", () => {
  it("is a round number above the highest value", () => {
    assert.deepEqual([0, 0.3, 1, 9.9, 110, 4_100, 99_000].map(roundTop), [1, 0.4, 1.2, 12, 120, 5_000, 120_000]);
  });

  it("changes at most eleven times while a value rises by a factor of ten", () => {
    const tops = Array.from({ length: 1_000 }, (_, index) => roundTop(100 + index * 0.9));
    assert.ok(new Set(tops).size <= 11, `expected at most 11 axes in 1,000 samples, found ${new Set(tops).size}`);
    assert.deepEqual(
      tops,
      [...tops].sort((a, b) => a - b),
    );
  });
});
