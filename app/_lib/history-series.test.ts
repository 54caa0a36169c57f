import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seriesOf } from "@/lib/history/series";
import { history, op } from "../../lib/history/testing/make-history";
import { seriesOfHistory } from "./history-series";
import { timeCell, timeText } from "./time-axis";

const MS = 1_000_000;
const sold = (atMs: number) =>
  op({ invokedNs: 0, writeNs: (atMs - 1) * MS, writeAccepted: true, committedNs: atMs * MS, answeredNs: atMs * MS });

function chartsOf(endMs: number, orderedUnits = 3) {
  const ops = [sold(2), sold(3), sold(endMs)];
  const series = seriesOf(history({ ops, run: { initial: 2 } }));
  assert.ok(series);
  return seriesOfHistory(
    series,
    [{ faultId: "kill-holder", fromUs: 1_000, toUs: 1_500, proof: "ended" }],
    orderedUnits,
  );
}

describe("time series of a history", () => {
  it("names its data source and step length", () => {
    assert.equal(chartsOf(400).source, "from 3 recorded purchases in 5\u00a0ms steps");
    assert.match(chartsOf(400, 4).source, /; 1 ordered unit has no recorded purchase$/);
    assert.equal(chartsOf(80).source, "from 3 recorded purchases in 1\u00a0ms steps");
    assert.equal(chartsOf(20).source, "from 3 recorded purchases in 0.2\u00a0ms steps");
    assert.equal(chartsOf(200_000).source, "from 3 recorded purchases in 2\u00a0s steps");
  });

  it("ends with the run, in milliseconds if the run took less than a second", () => {
    assert.deepEqual(chartsOf(80).axis, { endS: 0.08, unit: "ms", digits: 0 });
    assert.deepEqual(chartsOf(2_000).axis, { endS: 2, unit: "s", digits: 2 });
    assert.deepEqual(
      [chartsOf(20), chartsOf(2_000)].map(({ axis }) => timeText(axis, axis.endS / 2)),
      ["10.0 ms", "1.00 s"],
    );
  });

  it("gives every step a distinct time in the table", () => {
    for (const endMs of [3, 7, 20, 80, 400, 999, 1_000, 2_000, 15_000, 200_000]) {
      const { axis, stock } = chartsOf(endMs);
      assert.equal(new Set(stock.x.map((at) => timeCell(axis, at))).size, stock.x.length, `${endMs} ms`);
    }
  });

  it("starts orders at zero and stock at its initial value, and counts orders beyond the stock", () => {
    const { stock } = chartsOf(80);
    assert.deepEqual([stock.x[0], stock.ys.map((column) => column[0])], [0, [0, 2, 0]]);
    assert.deepEqual(
      stock.ys.map((column) => column.at(-1)),
      [3, -1, 1],
    );
  });

  it("has answers per second that add up to the purchases", () => {
    const [sold, ...others] = chartsOf(80).answers.ys.map((column) =>
      Math.round(column.reduce<number>((sum, perSecond) => sum + (perSecond ?? 0) / 1_000, 0)),
    );
    assert.deepEqual([sold, ...others], [3, 0, 0, 0]);
  });

  it("places faults at their own times", () => {
    assert.deepEqual(chartsOf(80).bands, [{ label: "kill-holder", fromS: 0.001, toS: 0.0015 }]);
  });
});
