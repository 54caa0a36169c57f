import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createHistogram, encodeHistogram, recordMs } from "../node/latency-histogram";
import { curveOfHistogram, medianCurve, mergedLatency } from "./histogram-curve";
import { runDocument } from "./testing/run-fixture";

function histogramOf(values: readonly number[]) {
  const histogram = createHistogram();
  for (const value of values) recordMs(histogram, value);
  return histogram;
}

function runOf(values: readonly number[]) {
  const encoded = encodeHistogram(histogramOf(values));
  const histograms = { latency: encoded, poolWait: encoded, wait: encoded, hold: encoded, commit: encoded };
  return { ...runDocument(), histograms };
}

describe("a curve of a whole distribution", () => {
  it("rises to the maximum and ends at the share of the last purchase", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 2, maxLength: 300 }), (values) => {
        const curve = curveOfHistogram(histogramOf(values));
        const [shares, times] = [curve.map(({ share }) => share), curve.map(({ ms }) => ms)];
        assert.deepEqual(
          shares,
          [...shares].sort((a, b) => a - b),
        );
        assert.deepEqual(
          times,
          [...times].sort((a, b) => a - b),
        );
        const max = Math.max(...values);
        assert.ok(Math.abs((times.at(-1) ?? 0) - max) <= max * 0.01, "two significant digits");
        assert.equal(shares.at(-1), 1 - 1 / Math.max(2, values.length));
      }),
    );
  });

  it("is empty for an empty histogram", () => {
    assert.deepEqual(curveOfHistogram(createHistogram()), []);
  });
});

describe("the distribution of repeats", () => {
  it("is the sum of their histograms, not the mean of their percentiles", () => {
    const merged = mergedLatency([runOf(Array(99).fill(1)), runOf([1_000])]);
    assert.equal(merged?.totalCount, 100);
    assert.ok(merged && Math.abs(merged.getValueAtPercentile(50) - 1_000) < 20, "half are answered within 1 ms");
  });

  it("is null if a run has no histogram", () => {
    assert.equal(mergedLatency([runOf([1]), runDocument()]), null);
    assert.equal(mergedLatency([]), null);
  });

  it("falls back to the median of each percentile", () => {
    const withP50 = (p50: number) => runDocument({ latencyMs: { ...runDocument().latencyMs, p50 } });
    assert.equal(medianCurve([withP50(10), withP50(30), withP50(20)])[0]?.ms, 20);
  });
});
