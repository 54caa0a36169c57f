import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CURVE_PERCENTILES as CURVE_OF_LAB } from "../../lib/node/curve-percentiles";
import { clientReportSchema } from "../../lib/runs/client-report";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import { CURVE_PERCENTILES, clientReportOf, failedThresholdsOf, formatMs, reportText, TREND_STATS } from "./report.js";

const trend = (values: Record<string, number>) => ({ values });

const metrics = {
  purchases: { values: { count: 500 } },
  unanswered: { values: { count: 2 }, thresholds: { "count==0": { ok: false } } },
  dropped_iterations: { values: { count: 0 }, thresholds: { "count==0": { ok: true } } },
  start_lag: trend({ min: 0.5, max: 10.5, "p(99)": 9 }),
  buyer_latency: trend({ med: 20, "p(90)": 30, "p(95)": 35, "p(99)": 40, "p(99.9)": 41, max: 42 }),
};

describe("the buyers' report", () => {
  it("is valid for the lab", () => {
    const report = clientReportSchema.parse(clientReportOf(metrics, { engineName: "k6 2.2.0", doorsOpen: true }));
    assert.deepEqual(report.latencyMs, { p50: 20, p90: 30, p95: 35, p99: 40, p999: 41, max: 42 });
    assert.equal(report.iterations, 500);
    assert.equal(report.failedRequests, 2);
    assert.equal(report.arrivalSkewMs, 10);
  });

  it("has the buyers' curve at the lab's percentiles", () => {
    assert.deepEqual(CURVE_PERCENTILES, CURVE_OF_LAB);
    // k6 interpolates, so one value is slightly below the one before.
    const values = Object.fromEntries(TREND_STATS.map((stat, at) => [stat, at]));
    const k6 = { ...metrics, buyer_latency: trend({ ...values, min: 7, "p(25.0106)": 7 - 1e-12 }) };
    const { curve } = clientReportSchema.parse(clientReportOf(k6, { engineName: "k6", doorsOpen: true }));
    assert.equal(curve?.length, CURVE_OF_LAB.length);
    assert.deepEqual(curve?.slice(0, 2), [
      { percentile: 0, ms: 7 },
      { percentile: 25.0106, ms: 7 },
    ]);
  });

  it("has no arrival skew if buyers arrive at a rate", () => {
    assert.equal(clientReportOf(metrics, { engineName: "k6", doorsOpen: false }).arrivalSkewMs, null);
  });

  it("has no figures if no purchase was sent", () => {
    const report = clientReportSchema.parse(clientReportOf({}, { engineName: "k6", doorsOpen: true }));
    assert.equal(report.iterations, 0);
    assert.equal(report.latencyMs.p99, null);
    assert.equal(report.curve, undefined);
    assert.equal(report.arrivalSkewMs, null);
  });

  it("lists the crossed thresholds", () => {
    assert.deepEqual(failedThresholdsOf(metrics), ["unanswered: count==0"]);
  });

  it("separates the name of a fault from its proof, also if the name is long", () => {
    const fault = { fromNs: "0", toNs: "1", proof: "Proof." };
    const faults = ["down", "kill-between-setnx-expire"].map((faultId) => ({ ...fault, faultId }));
    const text = reportText(runDocument({ faults }), { pageUrl: "/runs/r" });
    assert.match(text, /^ {2}down {12}Proof\.$/m);
    assert.match(text, /^ {2}kill-between-setnx-expire Proof\.$/m);
  });

  it("prints milliseconds with two or three significant digits", () => {
    assert.equal(formatMs(0.1234), "0.12 ms");
    assert.equal(formatMs(12.34), "12.3 ms");
    assert.equal(formatMs(1234.5), "1235 ms");
    assert.equal(formatMs(12_345), "12.3 s");
    assert.equal(formatMs(null), "-");
  });
});
