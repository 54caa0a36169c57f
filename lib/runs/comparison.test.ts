import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { chanceOfLyingApart, compareIntervals, comparisonWords } from "./comparison";
import { coverageOf, medianInterval } from "./median-interval";

const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 40 });
const interval = (...numbers: number[]) => medianInterval(numbers);

describe("the interval of a median", () => {
  it("is the whole range up to five runs, and says how much that is worth", () => {
    assert.deepEqual(interval(3, 1, 2), { median: 2, low: 1, high: 3, runs: 3, coverage: 0.75 });
    assert.equal(interval(1, 2, 3, 4, 5)?.coverage, 0.9375);
    assert.deepEqual(interval(7), { median: 7, low: 7, high: 7, runs: 1, coverage: 0 });
  });

  it("leaves the outermost out as soon as 95 % are kept without them", () => {
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

  it("is null for nothing, and leaves out what was not measured", () => {
    assert.equal(medianInterval([]), null);
    assert.equal(medianInterval([null, undefined, Number.NaN]), null);
    assert.equal(medianInterval([null, 4])?.runs, 1);
  });

  it("holds its median, lies inside the range, and does not depend on the order", () => {
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

  it("keeps what it promises: it holds the true median about as often as it says", () => {
    // A seeded stream, so that the test asks the same question every time.
    let state = 7;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const trials = 4_000;
    let held = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      // Skewed, as latencies are; its true median is ln 2.
      const found = medianInterval(Array.from({ length: 9 }, () => -Math.log(1 - random())));
      if (found && found.low <= Math.LN2 && Math.LN2 <= found.high) held += 1;
    }
    assert.ok(Math.abs(held / trials - coverageOf(9, 1)) < 0.02, `${held} of ${trials}`);
  });
});

describe("the comparison with a baseline", () => {
  it("claims a difference only where the intervals lie apart", () => {
    assert.deepEqual(compareIntervals(interval(10, 11, 12), interval(12, 13, 14), "lower"), {
      kind: "no_clear_difference",
    });
    assert.deepEqual(compareIntervals(interval(10, 11, 12), interval(21, 22, 23), "lower"), {
      kind: "faster",
      factor: 2,
    });
    assert.equal(compareIntervals(interval(10, 11, 12), interval(21, 22, 23), "higher").kind, "slower");
  });

  it("claims nothing from one or two runs, however far apart", () => {
    assert.deepEqual(compareIntervals(interval(1, 2), interval(900, 901, 902), "lower"), { kind: "too_few", runs: 2 });
  });

  it("has nothing to say where nothing was measured", () => {
    assert.deepEqual(compareIntervals(null, interval(1, 2, 3), "lower"), { kind: "no_data" });
  });

  it("turns round when the two change places or the better end does", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [left, right] = [medianInterval(a), medianInterval(b)];
        const there = compareIntervals(left, right, "lower");
        const opposite = { faster: "slower", slower: "faster" } as const;
        const turned =
          there.kind === "faster" || there.kind === "slower" ? { ...there, kind: opposite[there.kind] } : there;
        assert.deepEqual(compareIntervals(right, left, "lower"), turned);
        assert.deepEqual(compareIntervals(left, right, "higher"), turned);
      }),
    );
  });

  it("finds no difference between a thing and itself, and factors are never below 1", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [left, right] = [medianInterval(a), medianInterval(b)];
        assert.ok(!["faster", "slower"].includes(compareIntervals(left, left, "lower").kind));
        const found = compareIntervals(left, right, "lower");
        if ("factor" in found && found.factor !== null) assert.ok(found.factor >= 1, String(found.factor));
      }),
    );
  });

  it("knows how often chance alone lays two ranges apart", () => {
    assert.equal(chanceOfLyingApart(3, 3), 0.1);
    assert.equal(chanceOfLyingApart(4, 4).toFixed(4), (2 / 70).toFixed(4));
  });

  it("is put in words", () => {
    assert.equal(comparisonWords({ kind: "faster", factor: 1.184 }), "faster by 18 %");
    assert.equal(comparisonWords({ kind: "slower", factor: 3.21 }), "slower by a factor of 3.2");
    assert.equal(comparisonWords({ kind: "slower", factor: 41.6 }), "slower by a factor of 42");
    assert.equal(comparisonWords({ kind: "slower", factor: null }), "slower");
    assert.equal(comparisonWords({ kind: "faster", factor: 1.0312 }), "faster by 3.1 %");
    assert.equal(comparisonWords({ kind: "too_few", runs: 1 }), "too few runs (1)");
    assert.equal(comparisonWords({ kind: "no_clear_difference" }), "no clear difference");
  });
});
