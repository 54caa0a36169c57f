import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { CURVE_PERCENTILES } from "../node/curve-percentiles";
import { clientReportSchema } from "./client-report";
import { buyersCurve, curveOfPercentiles } from "./latency-curve";
import {
  type CurvePoint,
  layOutCurves,
  msAt,
  msFraction,
  msScale,
  percentilePosition,
  shareTicks,
} from "./percentile-axis";
import { clientReport, runDocument } from "./testing/run-fixture";

const BOX = { left: 50, top: 10, width: 500, height: 200 };
const curves: fc.Arbitrary<CurvePoint[]> = fc
  .array(
    fc.record({
      share: fc.double({ min: 0, max: 0.9999, noNaN: true }),
      ms: fc.double({ min: 0, max: 1e5, noNaN: true }),
    }),
    {
      maxLength: 12,
    },
  )
  .map((points) => {
    const shares = points.map(({ share }) => share).sort((a, b) => a - b);
    const times = points.map(({ ms }) => ms).sort((a, b) => a - b);
    return shares.map((share, index) => ({ share, ms: times[index] ?? 0 }));
  });

describe("the percentile axis", () => {
  it("gives every decade of 1 / (1 - p) the same width", () => {
    const at = [0, 0.9, 0.99, 0.999].map((share) => Number(percentilePosition(share).toFixed(9)));
    assert.deepEqual(at, [0, 1, 2, 3]);
  });

  it("has ticks only up to the end of the curves", () => {
    assert.deepEqual(
      shareTicks(2).map(({ label }) => label),
      ["0", "50 %", "90 %", "99 %"],
    );
  });

  it("draws every point inside the box, and higher shares further to the right", () => {
    fc.assert(
      fc.property(fc.array(curves, { maxLength: 4 }), (all) => {
        const plot = layOutCurves(all, BOX);
        for (const curve of all) {
          const xs = curve.map(({ share }) => plot.x(share));
          assert.deepEqual(
            xs,
            [...xs].sort((a, b) => a - b),
          );
          for (const [index, { ms }] of curve.entries()) {
            const [x, y] = [xs[index] ?? Number.NaN, plot.y(ms)];
            assert.ok(x >= BOX.left - 1e-6 && x <= BOX.left + BOX.width + 1e-6, `x ${x}`);
            assert.ok(y >= BOX.top - 1e-6 && y <= BOX.top + BOX.height + 1e-6, `y ${y}`);
          }
        }
      }),
    );
  });

  it("is linear from zero for similar curves and logarithmic for curves that are far apart", () => {
    const upTo = (ms: number): CurvePoint[] => [
      { share: 0.5, ms: ms / 2 },
      { share: 0.99, ms },
    ];
    const linear = msScale([upTo(90), upTo(40)]);
    assert.equal(linear.isLogarithmic, false);
    assert.deepEqual(linear.ticks, [0, 50, 100]);
    const logarithmic = msScale([upTo(9), upTo(4_000)]);
    assert.equal(logarithmic.isLogarithmic, true);
    assert.deepEqual(logarithmic.ticks, [1, 10, 100, 1_000, 10_000]);
    assert.equal(msFraction(100, logarithmic), 0.5);
  });

  it("has a scale without curves, without points, and for zeros only", () => {
    for (const curves of [[], [[]], [[{ share: 0.5, ms: 0 }]]]) {
      const scale = msScale(curves);
      assert.ok(scale.max > scale.min);
    }
  });
});

describe("a curve through a document's percentiles", () => {
  const percentiles = { p50: 10, p90: 20, p95: 25, p99: 40, p999: 60, max: 61 };

  it("puts the maximum at the share of the last purchase, and drops percentiles beyond it", () => {
    const shares = curveOfPercentiles(percentiles, 500).map(({ share }) => share);
    assert.deepEqual(shares, [0.5, 0.9, 0.95, 0.99, 0.998]);
  });

  it("leaves out percentiles without a value", () => {
    assert.deepEqual(curveOfPercentiles({ ...percentiles, p50: null, max: null }, 20), [{ share: 0.9, ms: 20 }]);
  });

  it("is interpolated on the logarithmic axis, and null beyond its ends", () => {
    const curve = [
      { share: 0.9, ms: 10 },
      { share: 0.999, ms: 30 },
    ];
    assert.equal(msAt(curve, 0.99)?.toFixed(6), "20.000000");
    assert.equal(msAt(curve, 0.9), 10);
    assert.equal(msAt(curve, 0.5), null);
    assert.equal(msAt(curve, 0.9999), null);
  });
});

describe("the buyers' curve", () => {
  const curve = CURVE_PERCENTILES.map((percentile, at) => ({ percentile, ms: 10 + at }));
  const curveWith = (changes: Parameters<typeof clientReport>[0]) =>
    buyersCurve(runDocument({ client: clientReport({ iterations: 500, ...changes }) }));

  it("has every point that the generator reported, up to the share of the last purchase", () => {
    const points = curveWith({ curve });
    assert.deepEqual(points[0], { share: 0, ms: 10 });
    assert.deepEqual(
      points.slice(-2).map(({ share }) => share),
      [0.997629, 0.998],
    );
    assert.equal(points.at(-1)?.ms, runDocument().latencyMs.max);
    assert.equal(
      curveWith({ curve, failedRequests: 400 }).at(-1)?.share,
      0.99,
      "expected the share of the last of 100 answered purchases",
    );
  });

  it("uses the document's percentiles if the generator reported no curve", () => {
    const { latencyMs, counts } = runDocument();
    assert.deepEqual(curveWith({}), curveOfPercentiles(latencyMs, counts.requests));
    assert.deepEqual(buyersCurve(runDocument({ client: null })), curveOfPercentiles(latencyMs, counts.requests));
  });

  it("is rejected by the schema if it does not rise or leaves the axis", () => {
    const accepts = (points: { percentile: number; ms: number }[]) =>
      clientReportSchema.safeParse(clientReport({ curve: points })).success;
    const at = (...pairs: [number, number][]) => pairs.map(([percentile, ms]) => ({ percentile, ms }));
    assert.equal(accepts(curve), true);
    assert.equal(accepts(at([50, 1], [90, 1])), true);
    assert.equal(accepts(at([90, 1], [50, 2])), false);
    assert.equal(accepts(at([50, 1], [50, 2])), false);
    assert.equal(accepts(at([50, 2], [90, 1])), false);
    assert.equal(accepts(at([100, 1])), false);
    assert.equal(accepts(at([-1, 1])), false);
    assert.equal(accepts(Array.from({ length: 65 }, (_, index) => ({ percentile: index, ms: 1 }))), false);
  });
});
