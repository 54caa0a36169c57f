import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { medianInterval } from "../../lib/runs/median-interval";
import { type Block, type Cost, costOf, turns } from "./blocks";
import { benchPage, settledBy } from "./page";
import { CASES } from "./recorder";

/** Blocks on a machine that slows down from 1,000 to 500 purchases per second, with a given cost of recording. */
function drifting(pairs: number, cost: number): Block[] {
  const order = turns(pairs);
  return order.map((isRecording, index) => {
    const free = 1_000 - (500 * index) / order.length;
    const purchases = isRecording ? free * (1 - cost) : free;
    return { isRecording, purchases, elapsedMs: 1_000, cpuUs: isRecording ? purchases * 110 : purchases * 100 };
  });
}

describe("the cost of recording", () => {
  it("is measured in alternating blocks, and neither kind always comes first", () => {
    assert.deepEqual(turns(3), [true, false, false, true, true, false]);
  });

  it("is separated from a slowdown of the machine", () => {
    const { throughputPercent, cpuPercent } = costOf(drifting(12, 0.1));
    assert.ok(throughputPercent && Math.abs(throughputPercent.median - 10) < 1, JSON.stringify(throughputPercent));
    assert.equal(cpuPercent?.median.toFixed(3), "10.000");
  });

  it("is 0 if both kinds of blocks are equal", () => {
    const alike = drifting(12, 0).map((block) => ({ ...block, purchases: 700 }));
    assert.equal(costOf(alike).throughputPercent?.median, 0);
    assert.deepEqual(costOf([]).throughputPercent, null);
  });

  it("fails above five percent, and is inconclusive if the noise is as large", () => {
    const resultOf = (cost: Cost) => ({ bench: CASES[0] as (typeof CASES)[0], cost, purchases: 1, cpuUsEach: 200 });
    const noisy = drifting(12, 0).map((block, index) => ({ ...block, purchases: index % 3 === 0 ? 500 : 1_000 }));
    assert.equal(settledBy(resultOf(costOf(drifting(12, 0.01)))), "below");
    assert.equal(settledBy(resultOf(costOf(drifting(12, 0.2)))), "above");
    assert.equal(settledBy(resultOf(costOf(noisy))), "open");
    assert.equal(settledBy(resultOf(costOf([]))), "open");

    const recordNs = medianInterval([100, 100, 100]);
    const context = {
      commit: "c",
      machine: "m",
      command: "x",
      pairs: 12,
      blockMs: 400,
      buyers: 8,
      loadBefore: 0.5,
      recordNs,
    };
    assert.match(
      benchPage({ ...context, results: [resultOf(costOf(drifting(12, 0.2)))] }),
      /FAILED: above the limit of 5 %/,
    );
    const page = benchPage({ ...context, results: [resultOf(costOf(drifting(12, 0)))] });
    assert.match(page, /below the limit of 5 %\./);
    assert.match(page, /0\.05 % of the 200 µs/);
  });
});
