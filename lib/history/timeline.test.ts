import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { peakOverlap } from "./intervals";
import { history, type OpFields, op } from "./testing/make-history";
import { SPAN_MARKS, spansWithin, timelineOf } from "./timeline";

const hold = (fromUs: number, toUs: number, fields: OpFields = {}) =>
  op({ grantedNs: fromUs * 1_000, releasedNs: toUs * 1_000, outcome: "error", ...fields });

describe("timelineOf", () => {
  it("has a lane for each node, in numeric order, also for a node without a grant", () => {
    const ops = [hold(10, 20, { node: "node-10" }), op({ node: "node-2" }), hold(0, 5, { node: "node-1" })];
    const { timeline } = timelineOf(history({ ops }));
    assert.deepEqual(timeline.lanes, ["node-1", "node-2", "node-10"]);
    assert.deepEqual(timeline.depths, [1, 0, 1]);
    assert.deepEqual(timeline.spans.lane, [0, 2]);
    assert.deepEqual(timeline.spans.fromUs, [0, 10]);
    assert.deepEqual(timeline.spans.lengthUs, [5, 10]);
  });

  it("shows read to commit if there is no lock, with times since the first request", () => {
    const ops = [
      op({ invokedNs: 1_000_000, readNs: 1_200_000, readValue: 5, writeNs: 1_300_000, writtenValue: 4 }),
      op({ invokedNs: 500_000, answeredNs: 2_000_000, outcome: "sold_out" }),
    ].map((line, index) => (index === 0 ? { ...line, committedNs: "1400000" } : line));
    const { timeline, indexOf } = timelineOf(history({ ops }));
    assert.equal(timeline.hasHolds, false);
    assert.deepEqual([timeline.spans.fromUs, timeline.spans.lengthUs, timeline.endUs], [[700], [200], 1_500]);
    assert.deepEqual([timeline.spans.readValue, timeline.spans.writtenValue], [[5], [4]]);
    assert.equal(indexOf.get(ops[0]?.opId ?? ""), 0);
  });

  it("ends a hold when the holder detects that its lease is lost", () => {
    const { timeline } = timelineOf(history({ ops: [hold(0, 50, { leaseLostNs: 20_000 })] }));
    assert.deepEqual(timeline.spans.lengthUs, [20]);
  });

  it("marks overlaps, stale writes, lost updates and fenced overlaps", () => {
    const marksOf = (...ops: ReturnType<typeof op>[]) => timelineOf(history({ ops })).timeline.spans.marks;
    assert.deepEqual(marksOf(hold(0, 10), hold(5, 15), hold(20, 30)), [SPAN_MARKS.overlap, SPAN_MARKS.overlap, 0]);
    assert.deepEqual(marksOf(hold(0, 10, { fencingToken: 1 }), hold(5, 15, { fencingToken: 2 })), [
      SPAN_MARKS.fencedOverlap,
      SPAN_MARKS.fencedOverlap,
    ]);
    assert.deepEqual(marksOf(hold(0, 10, { writeNs: 11_000, writeAccepted: true })), [SPAN_MARKS.staleWrite]);
    const writer = (at: number) =>
      op({ readNs: at, readValue: 3, writeNs: at + 1, writtenValue: 2, writeAccepted: true });
    assert.deepEqual(marksOf(writer(0), writer(1)), [SPAN_MARKS.lostUpdate, SPAN_MARKS.lostUpdate]);
  });

  it("gives overlapping spans different rows and uses as few rows as possible", () => {
    const span = fc.record({
      at: fc.nat(40),
      length: fc.integer({ min: 1, max: 12 }),
      node: fc.constantFrom("a", "b"),
    });
    fc.assert(
      fc.property(fc.array(span, { maxLength: 30 }), (spans) => {
        const ops = spans.map(({ at, length, node }) => hold(at, at + length, { node }));
        const { lanes, depths, spans: columns } = timelineOf(history({ ops })).timeline;
        for (const [lane, node] of lanes.entries()) {
          const own = spans.filter((each) => each.node === node);
          assert.equal(depths[lane], peakOverlap(own.map(({ at, length }) => ({ from: at, to: at + length }))));
        }
        const places = columns.fromUs.map((from, index) => ({
          from,
          to: from + (columns.lengthUs[index] ?? 0),
          key: `${columns.lane[index]}/${columns.row[index]}`,
        }));
        for (const [index, place] of places.entries()) {
          const clash = places.slice(index + 1).find(({ key, from }) => key === place.key && from < place.to);
          assert.equal(clash, undefined);
        }
      }),
    );
  });
});

describe("spansWithin", () => {
  it("keeps the spans that touch the range", () => {
    const ops = [hold(0, 10), hold(20, 30), hold(40, 50)];
    const within = spansWithin(timelineOf(history({ ops })).timeline, 10, 20);
    assert.deepEqual(within.fromUs, [0, 20]);
    assert.deepEqual(within.lane, [0, 0]);
  });
});
