import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type FaultBand, placeBands } from "./fault-bands";

/** A chart of two seconds, 200 pixels wide, from 50 on. */
const space = {
  left: 50,
  width: 200,
  xOf: (seconds: number) => 50 + seconds * 100,
  widthOf: (text: string) => text.length * 6,
  minWidth: 3,
  maxRows: 4,
};

const band = (fromS: number, toS: number, label = "kill"): FaultBand => ({ label, fromS, toS });
const placed = (...bands: FaultBand[]) => placeBands(bands, space);

describe("placeBands", () => {
  it("places a fault at its time", () => {
    assert.deepEqual(placed(band(0.5, 1)), [{ x: 100, width: 50, text: "kill", textX: 103, textWidth: 24, row: 0 }]);
  });

  it("gives a short fault a visible width", () => {
    assert.deepEqual(
      placed(band(0.5, 0.501), band(2, 2)).map(({ x, width }) => [x, width]),
      [
        [100, 3],
        [247, 3],
      ],
    );
  });

  it("clips faults at the chart's edges and marks faults outside with an arrow", () => {
    const all = placed(band(-1, 0.5), band(1.5, 9), band(3, 4), band(-2, -1));
    assert.deepEqual(
      all.map(({ x, width, text }) => [x, width, text]),
      [
        [50, 50, "kill"],
        [50, 3, "← kill"],
        [200, 50, "kill"],
        [247, 3, "kill →"],
      ],
    );
  });

  it("gives the number of faults whose names have no row, in place of the last row's names", () => {
    const all = placed(...Array.from({ length: 6 }, (_, index) => band(0.1 * index, 2, "pause-holder")));
    assert.deepEqual(
      all.map(({ text, row }) => [row, text]),
      [
        [0, "pause-holder"],
        [1, "pause-holder"],
        [2, "pause-holder"],
        [3, "+3 faults"],
        [3, ""],
        [3, ""],
      ],
    );
  });

  it("puts overlapping names in different rows and keeps all names within the chart", () => {
    const seconds = fc.double({ min: -1, max: 4, noNaN: true });
    const label = fc.string({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(fc.tuple(seconds, seconds, label), { maxLength: 12 }), (faults) => {
        const all = placeBands(
          faults.map(([a, b, name]) => band(Math.min(a, b), Math.max(a, b), name)),
          space,
        );
        assert.equal(all.length, faults.length);
        assert.ok(all.every(({ row }) => row < space.maxRows));
        for (const one of all) {
          assert.ok(one.x >= 50 && one.x + one.width <= 250 && one.width >= 3);
          assert.ok(one.textX >= 50 && one.textX + one.textWidth <= 250);
          for (const other of all) {
            if (other === one || other.row !== one.row || one.text === "" || other.text === "") continue;
            assert.ok(other.textX + other.textWidth <= one.textX || one.textX + one.textWidth <= other.textX);
          }
        }
      }),
    );
  });
});
