import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type BackoffPolicy, createBackoff } from "./backoff";
import { seededRandom } from "./testing/seeded-random";

const policy: BackoffPolicy = { minMs: 5, startMs: 20, growth: 2, perWaiterMs: 3, maxMs: 500 };
const always = (fraction: number) => ({ fraction: () => fraction, hex: () => "" });

function pauses(count: number, waiters: number, fraction: number): number[] {
  const backoff = createBackoff(policy, always(fraction));
  return Array.from({ length: count }, () => Math.round(backoff.nextMs(waiters)));
}

describe("backoff", () => {
  it("doubles the upper bound up to the limit for many waiters", () => {
    assert.deepEqual(pauses(7, 1_000, 1), [20, 40, 80, 160, 320, 500, 500]);
  });

  it("keeps pauses short while few callers wait", () => {
    assert.deepEqual(pauses(4, 1, 1), [20, 20, 20, 20]);
    assert.deepEqual(pauses(4, 10, 1), [20, 30, 30, 30]);
  });

  it("returns to short pauses when the other waiters have left", () => {
    const backoff = createBackoff(policy, always(1));
    for (let turn = 0; turn < 10; turn++) backoff.nextMs(1_000);
    assert.equal(backoff.nextMs(1), 20);
  });

  it("stays within the bounds for any number of waiters and any seed", () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000 }), fc.integer(), fc.integer({ min: 1, max: 30 }), (waiters, seed, turns) => {
        const backoff = createBackoff(policy, seededRandom(seed));
        for (let turn = 0; turn < turns; turn++) {
          const pauseMs = backoff.nextMs(waiters);
          assert.ok(pauseMs >= policy.minMs && pauseMs <= policy.maxMs, `${pauseMs} ms`);
        }
      }),
    );
  });

  it("gives different pauses to waiters that collided", () => {
    const random = seededRandom(7);
    const seen = new Set(Array.from({ length: 50 }, () => createBackoff(policy, random).nextMs(50)));
    assert.ok(seen.size > 40);
  });
});
