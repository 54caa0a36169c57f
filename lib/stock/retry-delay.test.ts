import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { retryDelayMs } from "./retry-delay";

describe("the delay before a retry", () => {
  it("doubles its upper bound with each attempt, up to 64 ms", () => {
    const bounds = [1, 2, 3, 4, 5, 6, 60].map((attempt) => retryDelayMs(attempt, () => 0.999));
    assert.deepEqual(bounds, [8, 16, 32, 64, 64, 64, 64]);
  });

  it("is drawn from the full range below the bound", () => {
    assert.equal(
      retryDelayMs(3, () => 0),
      0,
    );
    assert.equal(
      retryDelayMs(3, () => 0.5),
      16,
    );
  });
});
