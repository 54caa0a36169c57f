import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Block, costOf, turns } from "./blocks";
import { benchPage, tooDear } from "./page";
import { CASES } from "./recorder";

/** Throughput that drifts from 1,000 to 500 a second, and recording that costs a tenth of it. */
function drifting(pairs: number, cost: number): Block[] {
  const order = turns(pairs);
  return order.map((isRecording, index) => {
    const free = 1_000 - (500 * index) / order.length;
    const purchases = isRecording ? free * (1 - cost) : free;
    return { isRecording, purchases, elapsedMs: 1_000, cpuUs: isRecording ? purchases * 110 : purchases * 100 };
  });
}

describe("the cost of recording", () => {
  it("is measured with each taking its turn, and neither always first", () => {
    assert.deepEqual(turns(3), [true, false, false, true, true, false]);
  });

  it("is told from a machine that slows down meanwhile", () => {
    const { throughputPercent, cpuPercent } = costOf(drifting(12, 0.1));
    assert.ok(throughputPercent && Math.abs(throughputPercent.median - 10) < 1, JSON.stringify(throughputPercent));
    assert.equal(cpuPercent?.median.toFixed(3), "10.000");
  });

  it("is nothing where both are alike", () => {
    const alike = drifting(12, 0).map((block) => ({ ...block, purchases: 700 }));
    assert.equal(costOf(alike).throughputPercent?.median, 0);
    assert.deepEqual(costOf([]).throughputPercent, null);
  });

  it("fails the benchmark from five percent on", () => {
    const resultOf = (cost: number) => ({
      bench: CASES[0] as (typeof CASES)[0],
      cost: costOf(drifting(12, cost)),
      purchases: 1,
    });
    assert.equal(tooDear([resultOf(0.02)]).length, 0);
    assert.equal(tooDear([resultOf(0.1)]).length, 1);
    const context = { commit: "c", machine: "m", command: "x", pairs: 12, blockMs: 1_000, buyers: 8, loadBefore: 0.5 };
    assert.match(benchPage({ ...context, results: [resultOf(0.1)] }), /FAILED: 5 % or more in redis-decrement/);
    assert.match(benchPage({ ...context, results: [resultOf(0)] }), /Below the limit of 5 % in every case\./);
  });
});
