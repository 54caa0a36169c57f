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
    const { stock, phases, rates, latency, inside } = seriesOf(selling(1, 10), selling(2, 20));
    for (const { x, ys } of [stock, phases, rates, latency, inside]) {
      assert.ok(ys.every((column) => column.length === x.length));
    }
  });

  it("span at least one second while the run is active, and its real length afterwards", () => {
    const samples = [quiet(1), selling(2, 10), selling(3, 20)];
    const endOf = (status: "running" | "finished") => seriesOfSamples(runDocument({ status }), samples).axis.endS;
    assert.deepEqual([endOf("running"), endOf("finished")], [1, 0.5]);
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
