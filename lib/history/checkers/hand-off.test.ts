import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op } from "../testing/make-history";
import { handOffOf } from "./hand-off";

const MS = 1_000_000;
const hold = (fromMs: number, toMs: number, fields: OpFields = {}) =>
  op({ waitNs: 0, grantedNs: fromMs * MS, releasedNs: toMs * MS, ...fields });
const handOff = (...ops: ReturnType<typeof op>[]) => handOffOf(history({ ops }).ops);

describe("handOffOf", () => {
  it("measures the time from a release to the next grant", () => {
    assert.deepEqual(handOff(hold(0, 10), hold(12, 20), hold(25, 30)), { count: 2, p50Ms: 2, p99Ms: 5, maxMs: 5 });
  });

  it("has no value for an idle lock, for overlapping holds and between hosts", () => {
    assert.equal(handOff(hold(0, 10), hold(12, 20, { waitNs: 11 * MS })).count, 0);
    assert.equal(handOff(hold(0, 10), hold(5, 20)).count, 0);
    assert.equal(handOff(hold(0, 10, { host: "a" }), hold(12, 20, { host: "b" })).count, 0);
    assert.deepEqual(handOff(), { count: 0, p50Ms: null, p99Ms: null, maxMs: null });
  });

  it("finds each gap of a queue that is never empty", () => {
    const gaps = fc.array(fc.nat(9), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(gaps, (pauses) => {
        let at = 0;
        const holds = [hold(0, 0)];
        for (const pause of pauses) {
          holds.push(hold(at + pause, at + pause + 1));
          at += pause + 1;
        }
        const measured = handOff(...holds);
        assert.equal(measured.count, pauses.length);
        assert.equal(measured.maxMs, Math.max(...pauses));
      }),
    );
  });
});
