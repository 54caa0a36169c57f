import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { retryDelayMs } from "./retry.js";

describe("the delay before a request is repeated", () => {
  const answer = { status: 503, retryAfter: "2", elapsedMs: 0 };

  it("is the one that a 503 names", () => {
    assert.equal(retryDelayMs(answer), 2_000);
    assert.equal(retryDelayMs({ ...answer, elapsedMs: 23_000 }), 2_000);
  });

  it("is null for a final answer, and when the limit of 25 s would be exceeded", () => {
    for (const status of [0, 200, 409, 429, 500, 504]) assert.equal(retryDelayMs({ ...answer, status }), null);
    for (const retryAfter of [null, undefined, "", "0", "soon"]) {
      assert.equal(retryDelayMs({ ...answer, retryAfter }), null, `Retry-After: ${retryAfter}`);
    }
    assert.equal(retryDelayMs({ ...answer, elapsedMs: 23_001 }), null);
  });
});
