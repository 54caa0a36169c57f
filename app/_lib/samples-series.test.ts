import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RunSample } from "@/lib/runs/run-sample";
import { runDocument, runSample } from "../../lib/runs/testing/run-fixture";
import { STACK_ORDER, stacked } from "./run-series";
import { activeSpan, seriesOfSamples } from "./samples-series";

const quiet = (seq: number) => runSample(seq);
const counts = (requests: number) => ({ ...runSample(0).counts, requests });
const selling = (seq: number, orders: number) =>
  runSample(seq, { orders, stockLeft: 100 - orders, inFlight: 5, counts: counts(orders) });
const over = (seq: number) => runSample(seq, { orders: 100, stockLeft: 0, counts: counts(100) });

describe("samples with activity", () => {
  it("begin after the last idle sample and end with the first complete one", () => {
    const span = activeSpan([quiet(1), quiet(2), selling(3, 40), selling(4, 100), over(5), over(6), over(7)]);
    assert.equal(span.fromMs, 500);
    assert.deepEqual(
      span.samples.map((sample) => sample.seq),
      [3, 4, 5],
    );
  });

  it("are empty before the first purchase", () => {
    assert.deepEqual(activeSpan([quiet(1), quiet(2)]).samples, []);
    assert.deepEqual(activeSpan([]).samples, []);
  });

  it("include samples without progress while the run is active", () => {
    const stopped = (seq: number) => runSample(seq, { orders: 40, stockLeft: 60, counts: counts(40) });
    const samples = [selling(1, 40), stopped(2), stopped(3)];
    assert.deepEqual([activeSpan(samples, true).samples.length, activeSpan(samples).samples.length], [3, 2]);
  });

  it("include an idle interval in the middle of a sale", () => {
    const lull = runSample(4, { orders: 40, stockLeft: 60, counts: counts(40) });
    assert.equal(activeSpan([selling(3, 40), lull, selling(5, 70), over(6)]).samples.length, 4);
  });
});

const seriesOf = (...samples: RunSample[]) => seriesOfSamples(runDocument(), samples);

describe("columns", () => {
  it("start with the full stock when the sale opens", () => {
    assert.deepEqual(seriesOf(quiet(1), selling(2, 40)).stock, {
      x: [0, 0.25],
      ys: [
        [0, 40],
        [100, 60],
        [0, 0],
      ],
    });
  });

  it("are null for an interval without a completed purchase", () => {
    assert.deepEqual(
      seriesOf(selling(1, 1)).phases.ys,
      STACK_ORDER.map(() => [null]),
    );
  });

  it("have one y value for every x", () => {
    const { stock, phases, answers, latency, inside } = seriesOf(selling(1, 10), selling(2, 20));
    for (const { x, ys } of [stock, phases, answers, latency, inside]) {
      assert.ok(ys.every((column) => column.length === x.length));
    }
  });

  it("have a round length while the run is active, and the real length afterwards", () => {
    const samples = Array.from({ length: 100 }, (_, index) => selling(index + 1, index + 1));
    const endOf = (status: "running" | "finished", count: number) =>
      seriesOfSamples(runDocument({ status }), samples.slice(0, count)).axis.endS;
    const live = samples.map((_, index) => endOf("running", index + 1));
    assert.deepEqual([...new Set(live)], [2, 5, 10, 20, 30]);
    assert.equal(endOf("finished", 2), 0.5);
  });

  it("have the whole length of an arrival-rate run from its first sample", () => {
    const config = { ...runDocument().config, vus: null, rate: 10, durationMs: 60_000 };
    assert.equal(seriesOfSamples(runDocument({ status: "running", config }), [selling(1, 1)]).axis.endS, 60);
  });

  it("have the answers of each interval by kind, per second", () => {
    const outcomes = { sold: 4, soldOut: 2, contended: 1, rejected: 1, errors: 2, unknown: 1 };
    const second = runSample(2, { inFlight: 1, counts: { requests: 12, ...outcomes } });
    const { ys } = seriesOf(quiet(1), second, runSample(3, { counts: { requests: 13, ...outcomes, sold: 5 } })).answers;
    assert.deepEqual(ys, [
      [16, 4],
      [8, 0],
      [8, 0],
      [12, 0],
    ]);
  });
});

describe("faults with samples", () => {
  const clock = { host: "h", startedNs: "5000000000" };
  const fault = { faultId: "pause-holder", fromNs: "6000000000", toNs: "6500000000", proof: "stopped for 500 ms" };
  const busy = { counts: counts(5) };

  it("are placed relative to the start of the charts", () => {
    // Idle until 750 ms after the run was opened, where the charts begin.
    const samples = [quiet(1), quiet(2), quiet(3), runSample(4, busy)];
    assert.deepEqual(seriesOfSamples(runDocument({ faults: [fault], clock }), samples).bands, [
      { label: "pause-holder", fromS: 0.25, toS: 0.75 },
    ]);
  });

  it("are named while they last, from the samples", () => {
    const fault = (isActive: boolean) => ({ faults: [{ id: "pause-holder", node: "node-1", isActive }], ...busy });
    const samples = [
      runSample(1, fault(false)),
      runSample(2, fault(true)),
      runSample(3, fault(true)),
      runSample(4, busy),
    ];
    assert.deepEqual(seriesOfSamples(runDocument({ status: "running" }), samples).bands, [
      { label: "pause-holder", fromS: 0.5, toS: 0.75 },
    ]);
  });

  it("are left out without the clock", () => {
    assert.deepEqual(seriesOfSamples(runDocument({ faults: [fault] }), [runSample(1, busy)]).bands, []);
  });
});

describe("stacked", () => {
  it("sums from bottom to top and keeps null if all parts are null", () => {
    assert.deepEqual(
      stacked([
        [1, null],
        [2, null],
        [null, null],
      ]),
      [
        [1, null],
        [3, null],
        [3, null],
      ],
    );
  });

  it("never decreases from one level to the next", () => {
    const column = fc.array(fc.option(fc.nat(1000)), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(column, { minLength: 1, maxLength: 4 }), (ys) => {
        const sums = stacked(ys);
        return sums.every((level, index) =>
          level.every((sum, at) => index === 0 || sum === null || sum >= (sums[index - 1]?.[at] ?? 0)),
        );
      }),
    );
  });
});
