import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SALES, timeOf } from "./check-benchmark";

/**
 * Ten times the operations may take this much more: ten for the work, the rest for sorting, a fuller heap, and a machine
 * that is busier the second time. What grows by the square takes a hundred.
 */
const MOST = 20;
const [FEW, MANY] = [4_000, 40_000];
/** What else runs on the machine blurs a measurement; a checker that is not near linear fails all of them, by far. */
const ATTEMPTS = 5;

describe("judging a history", () => {
  for (const [name, make] of Object.entries(SALES)) {
    it(`takes near ten times as long for ten times the operations: ${name}`, async () => {
      const ratios: number[] = [];
      while (ratios.length < ATTEMPTS && !ratios.some((ratio) => ratio <= MOST)) {
        // The first try also compiles; the shortest counts.
        const small = await timeOf(make(FEW), 4);
        const large = await timeOf(make(MANY), 2);
        ratios.push(large.cpuMs / small.cpuMs);
      }
      const tried = ratios.map((ratio) => ratio.toFixed(1)).join(", ");
      assert.ok(
        ratios.some((ratio) => ratio <= MOST),
        `${tried} times as long`,
      );
    });
  }
});
