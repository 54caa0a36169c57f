import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metrics } from "../services/metrics";
import type { OperationTrace } from "../stock/types";
import { decodeHistogram, percentilesOf } from "./latency-histogram";
import { PurchaseMeter, RunFigures } from "./purchase-meter";

const MS = 1_000_000n;

const BUYER = { buyerId: "buyer-1", quantity: 1 };

function makeTrace(times: Partial<OperationTrace> = {}): OperationTrace {
  return { opId: "node-1-1", invokedNs: 0n, ...times };
}

/** Answered after 100 ms: 30 ms in the queue for the lock, 50 ms holding it, 10 ms committing. */
function makeLockedTrace(times: Partial<OperationTrace> = {}): OperationTrace {
  const locked = { waitNs: 5n * MS, grantedNs: 35n * MS, readNs: 36n * MS, writeNs: 85n * MS, committedNs: 95n * MS };
  return makeTrace({ ...locked, answeredNs: 100n * MS, ...times });
}

function phaseMs(figures: RunFigures, phase: "latency" | "poolWait" | "wait" | "hold" | "commit"): number | null {
  const { max } = percentilesOf(decodeHistogram(figures.encode()[phase]));
  return max === null ? null : Math.round(max);
}

async function prometheusValue(name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> {
  const text = await metrics().registry.metrics();
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text
    .split("\n")
    .find((each) => each.startsWith(`${name}{`) && wanted.every((one) => each.includes(one)));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

describe("PurchaseMeter", () => {
  it("counts each outcome of a run under the document's name for it", () => {
    const figures = new RunFigures();
    const meter = new PurchaseMeter(metrics(), figures);
    for (const outcome of ["sold", "sold_out", "contended", "rejected", "error", "unknown"] as const) {
      const trace = makeLockedTrace();
      meter.begin(trace, BUYER);
      meter.end("meter-outcomes", trace, outcome);
    }
    const counts = { requests: 6, sold: 1, soldOut: 1, contended: 1, rejected: 1, errors: 1, unknown: 1 };
    assert.deepEqual(figures.counts, counts);
  });

  it("keeps the highest number of purchases in flight", () => {
    const figures = new RunFigures();
    const meter = new PurchaseMeter(metrics(), figures);
    const traces = [makeLockedTrace(), makeLockedTrace(), makeLockedTrace()];
    for (const trace of traces) meter.begin(trace, BUYER);
    for (const trace of traces) meter.end("meter-peak", trace, "sold");
    meter.begin(makeTrace(), BUYER);
    assert.deepEqual([figures.peakInFlight, meter.inFlight], [3, 1]);
  });

  it("counts as waiting only purchases that requested their lock and have neither lock nor stock", () => {
    const meter = new PurchaseMeter(metrics(), null);
    meter.begin(makeTrace(), BUYER);
    meter.begin(makeTrace({ waitNs: 1n }), BUYER);
    meter.begin(makeTrace({ waitNs: 1n, grantedNs: 2n }), BUYER);
    meter.begin(makeTrace({ waitNs: 1n, readNs: 2n }), BUYER);
    assert.equal(meter.countWaiters(), 1);
  });

  it("records each phase without the time it spent waiting for pooled connections", () => {
    const figures = new RunFigures();
    const meter = new PurchaseMeter(metrics(), figures);
    const pool = { poolWaitNs: 24n * MS, waitPoolNs: 10n * MS, holdPoolNs: 8n * MS, commitPoolNs: 6n * MS };
    const trace = makeLockedTrace(pool);
    meter.begin(trace, BUYER);
    meter.end("meter-phases", trace, "sold");
    assert.equal(phaseMs(figures, "latency"), 100);
    assert.equal(phaseMs(figures, "poolWait"), 24);
    assert.equal(phaseMs(figures, "wait"), 20);
    assert.equal(phaseMs(figures, "hold"), 42);
    assert.equal(phaseMs(figures, "commit"), 4);
  });

  for (const [where, figures] of [
    ["inside a run", new RunFigures()],
    ["outside of runs", null],
  ] as const) {
    it(`feeds Prometheus once per purchase ${where}`, async () => {
      const strategy = figures ? "meter-run" : "meter-shop";
      const meter = new PurchaseMeter(metrics(), figures);
      const trace = makeLockedTrace({ leaseLostNs: 90n * MS });
      meter.begin(trace, BUYER);
      meter.end(strategy, trace, "sold");
      assert.equal(metrics().purchases.get(`${strategy}|sold`), 1);
      assert.equal(metrics().leasesLost.get(strategy), 1);
      assert.equal(await prometheusValue("flash_sale_purchase_duration_seconds_count", { strategy }), 1);
      assert.equal(await prometheusValue("flash_sale_purchase_duration_seconds_sum", { strategy }), 0.1);
      for (const [phase, seconds] of Object.entries({ pool_wait: 0, wait: 0.03, hold: 0.05, commit: 0.01 })) {
        const sum = await prometheusValue("flash_sale_purchase_phase_duration_seconds_sum", { strategy, phase });
        assert.equal(sum, seconds, `expected ${seconds} s of ${phase}, found ${sum} s`);
      }
    });
  }
});
