import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  decimals,
  durationText,
  formatCount,
  formatDuration,
  formatJain,
  formatMsCell,
  formatMsTick,
  formatRate,
  formatShare,
  formatStepMs,
  formatTicks,
  formatWhen,
  keepUnits,
  NO_VALUE,
  plural,
  settingText,
} from "./format";

describe("formatDuration", () => {
  it("uses ms below one second, else s", () => {
    const cases: [number, string][] = [
      [0, "0 ms"],
      [0.424, "0.42 ms"],
      [0.999, "1.0 ms"],
      [3.44, "3.4 ms"],
      [9.96, "10 ms"],
      [121.4, "121 ms"],
      [999.6, "1.00 s"],
      [1240, "1.24 s"],
      [9_996, "10.0 s"],
      [59_940, "59.9 s"],
      [120_000, "120 s"],
    ];
    for (const [ms, expected] of cases) {
      const { text, unit } = formatDuration(ms);
      assert.equal(`${text} ${unit}`, expected, `${ms} ms`);
    }
  });

  it("shows a dash for a missing value", () => {
    assert.equal(formatDuration(null).text, NO_VALUE);
    assert.equal(durationText(null), NO_VALUE);
  });

  it("has at most five characters below a hundred minutes", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 6_000_000, noNaN: true }), (ms) => formatDuration(ms).text.length <= 5),
    );
  });
});

describe("axis labels", () => {
  it("have one unit per axis and at most six characters", () => {
    assert.deepEqual(formatTicks([0, 0.25, 7.5, 1_000, 9_999]), ["0", "0.25", "7.5", "1,000", "9,999"]);
    assert.deepEqual(formatTicks([0, 5_000, 10_000, 12_500]), ["0", "5k", "10k", "12.5k"]);
    assert.deepEqual(formatTicks([0, 1_000_000]), ["0", "1,000k"]);
  });

  it("show latency with its unit", () => {
    assert.deepEqual([0, 0.5, 50, 2_500, 10_000].map(formatMsTick), ["0 ms", "0.5 ms", "50 ms", "2.5 s", "10 s"]);
  });

  it("show a share with the decimals that its place on the axis resolves", () => {
    assert.deepEqual([0, 0.5, 0.99, 0.9993].map(formatShare), ["0 %", "50 %", "99.0 %", "99.930 %"]);
  });
});

describe("cells and settings", () => {
  it("show milliseconds with one decimal", () => {
    assert.equal(formatMsCell(0), "0.0");
    assert.equal(formatMsCell(12_345.67), "12,345.7");
    assert.equal(formatMsCell(null), NO_VALUE);
  });

  it("group counts and round rates", () => {
    assert.equal(formatCount(12_400), "12,400");
    assert.equal(formatCount(null), NO_VALUE);
    assert.equal(formatRate(0), "0");
    assert.equal(formatRate(3.14), "3.1");
    assert.equal(formatRate(1_604.4), "1,604");
  });

  it("show configured durations without added decimals", () => {
    assert.equal(settingText(5), "5\u00a0ms");
    assert.equal(settingText(1_500), "1,500\u00a0ms");
    assert.equal(settingText(10_000), "10\u00a0s");
    assert.equal(settingText(0.2), "0.2\u00a0ms");
  });

  it("show a recorded time to the microsecond, grouped", () => {
    assert.deepEqual([formatStepMs(0), formatStepMs(3_155_738)], ["0.000", "3,155.738"]);
    assert.equal(decimals(-0.0001, 3), "0.000");
  });

  it("stay on one line with their unit in a sentence", () => {
    assert.equal(
      keepUnits("wakes after 2.54 s, 30 ms later, 3 steps"),
      "wakes after 2.54\u00a0s, 30\u00a0ms later, 3 steps",
    );
  });

  it("show an index and plurals", () => {
    assert.deepEqual([formatJain(0.65), formatJain(null)], ["0.650", NO_VALUE]);
    assert.equal(plural(1, "order"), "1 order");
    assert.equal(plural(1_200, "order"), "1,200 orders");
  });

  it("show a time in the same width in both zones", () => {
    assert.equal(formatWhen(Date.UTC(2026, 10, 20, 23, 36, 5), "utc"), "2026-11-20 23:36:05");
    assert.equal(formatWhen(Date.UTC(2026, 10, 20, 23, 36, 5), "local").length, 19);
  });
});
