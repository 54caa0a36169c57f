import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BuyerLimits } from "./buyer-limits";

describe("buyer limits", () => {
  it("admits a burst, then returns the time until the next token", () => {
    const limits = new BuyerLimits({ ratePerSecond: 2, burst: 3, maxBuyers: 10 });
    assert.deepEqual(
      [0, 0, 0, 0].map(() => limits.take("a", 1_000)),
      [0, 0, 0, 500],
    );
    assert.equal(limits.take("a", 1_250), 250);
    assert.equal(limits.take("a", 1_500), 0);
    assert.equal(limits.take("a", 1_500), 500);
  });

  it("counts each buyer separately", () => {
    const limits = new BuyerLimits({ ratePerSecond: 1, burst: 1, maxBuyers: 10 });
    assert.equal(limits.take("a", 0), 0);
    assert.equal(limits.take("b", 0), 0);
    assert.equal(limits.take("a", 0), 1_000);
  });

  it("keeps at most maxBuyers buckets and drops the least recently used one", () => {
    const limits = new BuyerLimits({ ratePerSecond: 1, burst: 1, maxBuyers: 3 });
    for (const buyer of ["a", "b", "c"]) limits.take(buyer, 0);
    limits.take("a", 1);
    limits.take("d", 2);
    assert.equal(limits.size, 3);
    assert.ok(limits.take("a", 3) > 0, "expected a to be limited: its bucket was used after that of b");
    assert.equal(limits.take("b", 3), 0);
  });

  it("never admits more than burst and refill allow, in any order of arrivals", () => {
    const arrivals = fc.array(fc.record({ buyer: fc.constantFrom("a", "b"), afterMs: fc.nat(400) }), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 9 }), (steps, burst) => {
        const ratePerSecond = 4;
        const limits = new BuyerLimits({ ratePerSecond, burst, maxBuyers: 8 });
        const admitted: Record<string, number> = { a: 0, b: 0 };
        let nowMs = 0;
        for (const { buyer, afterMs } of steps) {
          nowMs += afterMs;
          if (limits.take(buyer, nowMs) === 0) admitted[buyer] = (admitted[buyer] ?? 0) + 1;
        }
        const most = burst + (nowMs * ratePerSecond) / 1_000 + 1e-6;
        return Object.values(admitted).every((count) => count <= most);
      }),
    );
  });
});
