import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SALES, timeOf } from "../history/check-benchmark";

/**
 * Ten times the operations may take 20 times as long: 10 is linear, the rest covers sorting, garbage collection and
 * noise. Quadratic takes 100 times.
 */
const MAX_RATIO = 20;
const [FEW, MANY] = [4_000, 40_000];
/** Other load on the machine can spoil a measurement. A checker that is not near linear fails every attempt. */
const ATTEMPTS = 5;

describe("the time to check a history", () => {
  for (const [name, makeSale] of Object.entries(SALES)) {
    it(`grows nearly linearly with the operations: ${name}`, async () => {
      const ratios: number[] = [];
      while (ratios.length < ATTEMPTS && !ratios.some((ratio) => ratio <= MAX_RATIO)) {
        // The first attempt includes compilation; the minimum counts.
        const small = await timeOf(makeSale(FEW), 4);
        const large = await timeOf(makeSale(MANY), 2);
        ratios.push(large.cpuMs / small.cpuMs);
      }
      const found = ratios.map((ratio) => ratio.toFixed(1)).join(", ");
      assert.ok(
        ratios.some((ratio) => ratio <= MAX_RATIO),
        `expected a ratio of at most ${MAX_RATIO}, found ${found}`,
      );
    });
  }
});
