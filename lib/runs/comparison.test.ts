import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { chanceOfSeparateRanges, compareIntervals, comparisonWords } from "./comparison";
import { coverageOf, medianInterval } from "./median-interval";

const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 40 });
const interval = (...numbers: number[]) => medianInterval(numbers);

describe("the interval of a median", () => {
  it("is the whole range for up to five runs, with its coverage", () => {
    assert.deepEqual(interval(3, 1, 2), { median: 2, low: 1, high: 3, runs: 3, coverage: 0.75 });
    assert.equal(interval(1, 2, 3, 4, 5)?.coverage, 0.9375);
    assert.deepEqual(interval(7), { median: 7, low: 7, high: 7, runs: 1, coverage: 0 });
  });

  it("leaves out the outermost values once the rest covers 95 %", () => {
    const nine = medianInterval([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.deepEqual([nine?.low, nine?.high], [2, 8]);
    assert.ok((nine?.coverage ?? 0) >= 0.95);
    assert.deepEqual([interval(1, 2, 3, 4, 5, 6, 7, 8)?.low, interval(1, 2, 3, 4, 5, 6, 7, 8)?.high], [1, 8]);
  });

  it("agrees with the table of the sign test", () => {
    assert.equal(coverageOf(6, 0).toFixed(4), "0.9688");
    assert.equal(coverageOf(9, 1).toFixed(4), "0.9609");
    assert.equal(coverageOf(20, 5).toFixed(4), "0.9586");
  });

  it("is null without values, and ignores values that were not measured", () => {
    assert.equal(medianInterval([]), null);
    assert.equal(medianInterval([null, undefined, Number.NaN]), null);
    assert.equal(medianInterval([null, 4])?.runs, 1);
  });

  it("contains its median, lies inside the range, and does not depend on the order", () => {
    fc.assert(
      fc.property(values, (numbers) => {
        const found = medianInterval(numbers);
        assert.ok(found);
        assert.ok(found.low <= found.median && found.median <= found.high);
        assert.ok(numbers.includes(found.low) && numbers.includes(found.high));
        assert.deepEqual(medianInterval([...numbers].reverse()), found);
      }),
    );
  });

  it("contains the true median as often as its coverage says", () => {
    // A seeded stream, so that every run of the test draws the same values.
    let state = 7;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const trials = 4_000;
    let hits = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      // Skewed, as latencies are; its true median is ln 2.
      const found = medianInterval(Array.from({ length: 9 }, () => -Math.log(1 - random())));
      if (found && found.low <= Math.LN2 && Math.LN2 <= found.high) hits += 1;
    }
    assert.ok(
      Math.abs(hits / trials - coverageOf(9, 1)) < 0.02,
      `expected a share of ${coverageOf(9, 1)}, found ${hits} of ${trials}`,
    );
  });
});

describe("the comparison with a baseline", () => {
  it("reports a difference only if the intervals do not overlap", () => {
    assert.deepEqual(compareIntervals(interval(10, 11, 12), interval(12, 13, 14), "lower"), {
      kind: "no_clear_difference",
    });
    assert.deepEqual(compareIntervals(interval(10, 11, 12), interval(21, 22, 23), "lower"), {
      kind: "faster",
      factor: 2,
    });
    assert.equal(compareIntervals(interval(10, 11, 12), interval(21, 22, 23), "higher").kind, "slower");
  });

  it("reports no difference with one or two runs, even if they are far apart", () => {
    assert.deepEqual(compareIntervals(interval(1, 2), interval(900, 901, 902), "lower"), { kind: "too_few", runs: 2 });
  });

  it("reports no data without values", () => {
    assert.deepEqual(compareIntervals(null, interval(1, 2, 3), "lower"), { kind: "no_data" });
  });

  it("is reversed if the two sides are swapped, or if higher is better", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [left, right] = [medianInterval(a), medianInterval(b)];
        const forward = compareIntervals(left, right, "lower");
        const opposite = { faster: "slower", slower: "faster" } as const;
        const reversed =
          forward.kind === "faster" || forward.kind === "slower"
            ? { ...forward, kind: opposite[forward.kind] }
            : forward;
        assert.deepEqual(compareIntervals(right, left, "lower"), reversed);
        assert.deepEqual(compareIntervals(left, right, "higher"), reversed);
      }),
    );
  });

  it("finds no difference between a sample and itself, and no factor below 1", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [left, right] = [medianInterval(a), medianInterval(b)];
        assert.ok(!["faster", "slower"].includes(compareIntervals(left, left, "lower").kind));
        const found = compareIntervals(left, right, "lower");
        if ("factor" in found && found.factor !== null) assert.ok(found.factor >= 1, String(found.factor));
      }),
    );
  });

  it("computes the probability of separate ranges without a difference", () => {
    assert.equal(chanceOfSeparateRanges(3, 3), 0.1);
    assert.equal(chanceOfSeparateRanges(4, 4).toFixed(4), (2 / 70).toFixed(4));
  });

  it("has a phrase for every result", () => {
    assert.equal(comparisonWords({ kind: "faster", factor: 1.184 }), "faster by 18 %");
    assert.equal(comparisonWords({ kind: "slower", factor: 3.21 }), "slower by a factor of 3.2");
    assert.equal(comparisonWords({ kind: "slower", factor: 41.6 }), "slower by a factor of 42");
    assert.equal(comparisonWords({ kind: "slower", factor: null }), "slower");
    assert.equal(comparisonWords({ kind: "faster", factor: 1.0312 }), "faster by 3.1 %");
    assert.equal(comparisonWords({ kind: "too_few", runs: 1 }), "too few runs (1)");
    assert.equal(comparisonWords({ kind: "no_clear_difference" }), "no clear difference");
  });
});
