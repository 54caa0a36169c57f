import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longestPurchaseMs, readUntilIdle } from "./drain";

/** Returns the next reading with each call, and the last one again and again. */
function readingsOf(...inFlight: number[]) {
  const calls = { count: 0 };
  const read = async () => inFlight[Math.min(calls.count++, inFlight.length - 1)] ?? 0;
  return { calls, read };
}

describe("waiting for purchases in flight", () => {
  it("ends at the first reading without any", async () => {
    const { calls, read } = readingsOf(2, 1, 0, 7);
    assert.equal(await readUntilIdle(read, Number, 60_000), 0);
    assert.equal(calls.count, 3);
  });

  it("ends with the last reading when the time limit has passed", async () => {
    const { calls, read } = readingsOf(2);
    assert.equal(await readUntilIdle(read, Number, -1), 2);
    assert.equal(calls.count, 1);
  });

  it("lasts longer than a purchase that waits and works for as long as it may", () => {
    assert.ok(longestPurchaseMs({ waitTimeoutMs: 300, holdMs: 20 }) > 320);
  });
});
