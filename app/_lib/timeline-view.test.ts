import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readEvidenceParams, withEvidenceParams } from "./evidence-url";
import {
  clampRange,
  densityOf,
  laneBoxes,
  panRange,
  rangeAround,
  rangeByKey,
  rangeText,
  spansInView,
  ticksIn,
  toSpans,
  zoomRange,
} from "./timeline-view";

const spansOf = (...spans: readonly (readonly [fromUs: number, lengthUs: number, lane?: number, marks?: number])[]) =>
  toSpans({
    lane: spans.map(([, , lane = 0]) => lane),
    row: spans.map(() => 0),
    fromUs: spans.map(([from]) => from),
    lengthUs: spans.map(([, length]) => length),
    marks: spans.map(([, , , marks = 0]) => marks),
    readValue: spans.map(() => null),
    writtenValue: spans.map(() => null),
  });

describe("visible range", () => {
  it("stays within the run after zoom, pan and clamp", () => {
    const range = fc.tuple(fc.nat(2_000), fc.nat(2_000)).map(([fromUs, length]) => ({ fromUs, toUs: fromUs + length }));
    fc.assert(
      fc.property(
        range,
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        fc.integer({ min: -3, max: 3 }),
        (one, factor, share) => {
          for (const moved of [
            zoomRange(one, { factor }, 1_000),
            panRange(one, share, 1_000),
            clampRange(one, 1_000),
          ]) {
            assert.ok(moved.fromUs >= 0 && moved.toUs <= 1_000 && moved.toUs > moved.fromUs, JSON.stringify(moved));
          }
        },
      ),
    );
  });

  it("keeps the time under the pointer in place while zooming", () => {
    assert.deepEqual(zoomRange({ fromUs: 0, toUs: 1_000 }, { factor: 0.5, atUs: 200 }, 1_000), {
      fromUs: 100,
      toUs: 600,
    });
    assert.deepEqual(panRange({ fromUs: 100, toUs: 300 }, 0.25, 1_000), { fromUs: 150, toUs: 350 });
  });

  it("moves with arrow keys, zooms with plus and minus, shows all with Home, ignores other keys", () => {
    const range = { fromUs: 400, toUs: 600 };
    assert.deepEqual(rangeByKey("ArrowLeft", range, 1_000), { fromUs: 360, toUs: 560 });
    assert.deepEqual(rangeByKey("ArrowRight", range, 1_000), { fromUs: 440, toUs: 640 });
    assert.deepEqual(rangeByKey("+", range, 1_000), { fromUs: 440, toUs: 560 });
    assert.deepEqual(rangeByKey("-", { fromUs: 440, toUs: 560 }, 1_000), range);
    assert.deepEqual(rangeByKey("Home", range, 1_000), { fromUs: 0, toUs: 1_000 });
    assert.equal(rangeByKey("a", range, 1_000), null);
  });

  it("has a minimum length for an empty run", () => {
    assert.deepEqual(clampRange({ fromUs: 0, toUs: 1 }, 0), { fromUs: 0, toUs: 20 });
    assert.ok(ticksIn({ fromUs: 0, toUs: 20 }, 8).ticks.length > 1);
    assert.deepEqual(spansInView(spansOf(), { fromUs: 0, toUs: 20 }), []);
  });

  it("surrounds the purchases of a finding with a margin", () => {
    const spans = spansOf([1_000, 1_000], [1_500, 2_500]);
    const range = rangeAround(spans, [0, 1], 100_000);
    assert.deepEqual(range, { fromUs: 0, toUs: 5_100 });
    assert.equal(rangeAround(spans, [], 100_000), null);
  });
});

describe("spansInView", () => {
  it("finds exactly the spans that overlap the range, also one that began long before it", () => {
    const span = fc.tuple(fc.nat(1_000), fc.nat(300));
    fc.assert(
      fc.property(fc.array(span), fc.nat(1_000), fc.nat(400), (all, fromUs, length) => {
        const sorted = [...all].sort((a, b) => a[0] - b[0]);
        const toUs = fromUs + length;
        const expected = sorted.flatMap(([at, long], index) => (at <= toUs && at + long >= fromUs ? [index] : []));
        assert.deepEqual(spansInView(spansOf(...sorted), { fromUs, toUs }), expected);
      }),
    );
  });
});

describe("densityOf", () => {
  it("counts concurrent holders per column and lane, and violations separately", () => {
    const spans = spansOf([0, 50], [10, 20, 1, 1], [40, 60, 0, 8]);
    const [first, second] = densityOf(spans, { range: { fromUs: 0, toUs: 100 }, width: 10, laneCount: 2 });
    assert.deepEqual([...(first?.all ?? [])].slice(0, 10), [1, 1, 1, 1, 2, 1, 1, 1, 1, 1]);
    assert.deepEqual([...(first?.marked ?? [])].slice(0, 10), Array(10).fill(0));
    assert.deepEqual([...(second?.marked ?? [])].slice(0, 10), [0, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
  });

  it("counts a holder that entered long before the range", () => {
    const view = { range: { fromUs: 80, toUs: 100 }, width: 2, laneCount: 1 };
    const [lane] = densityOf(spansOf([0, 95], [82, 1]), view);
    assert.deepEqual([...(lane?.all ?? [])].slice(0, 2), [2, 1]);
  });

  it("counts a very short span in its column", () => {
    const [lane] = densityOf(spansOf([50, 0]), { range: { fromUs: 0, toUs: 100 }, width: 10, laneCount: 1 });
    assert.deepEqual([...(lane?.all ?? [])].slice(0, 10), [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  });
});

describe("lanes, ticks and texts", () => {
  it("gives a lane the height of its rows, within limits", () => {
    const { boxes, height } = laneBoxes([1, 4, 400]);
    assert.deepEqual(
      boxes.map((box) => box.height),
      [36, 56, 76],
    );
    assert.equal(boxes[2]?.rowHeight, 76 / 400);
    assert.ok(height >= 36 + 56 + 76);
  });

  it("puts ticks at round times in seconds or milliseconds", () => {
    assert.deepEqual(
      ticksIn({ fromUs: 0, toUs: 2_000_000 }, 4).ticks.map(({ text }) => text),
      ["0.0", "0.5", "1.0", "1.5", "2.0"],
    );
    const close = ticksIn({ fromUs: 411_000, toUs: 411_900 }, 4);
    assert.equal(close.unit, "ms");
    assert.deepEqual(
      close.ticks.map(({ text }) => text),
      ["411.0", "411.5"],
    );
    assert.equal(rangeText({ fromUs: 400_000, toUs: 440_000 }), "0.400 s to 0.440 s");
  });
});

describe("evidence in the URL", () => {
  it("carries the finding and the range, and keeps other parameters", () => {
    const link = { finding: "lostUpdates-2", range: { fromUs: 10, toUs: 90 } };
    const href = withEvidenceParams("http://lab/runs/1?x=1#top", link, 1_000);
    assert.equal(href, "http://lab/runs/1?x=1&finding=lostUpdates-2&fromUs=10&toUs=90#top");
    assert.deepEqual(readEvidenceParams(Object.fromEntries(new URL(href).searchParams)), link);
    assert.equal(withEvidenceParams(href, { finding: null, range: null }, 1_000), "http://lab/runs/1?x=1#top");
  });

  it("ignores malformed parameters", () => {
    assert.deepEqual(readEvidenceParams({ finding: "<script>", fromUs: "9", toUs: "3" }), {
      finding: null,
      range: null,
    });
    assert.deepEqual(readEvidenceParams({ finding: ["a-1", "b-2"], fromUs: "x" }), { finding: null, range: null });
  });
});
