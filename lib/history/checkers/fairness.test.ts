import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, op } from "../testing/make-history";
import { fairnessOf, jainIndex } from "./fairness";

const MS = 1_000_000;

describe("jainIndex", () => {
  it("is 1 for equal waits, 1/n if only one purchase waited, null without waits", () => {
    assert.equal(jainIndex([5, 5, 5, 5]), 1);
    assert.equal(jainIndex([8, 0, 0, 0]), 0.25);
    assert.equal(jainIndex([0, 0]), null);
    assert.equal(jainIndex([]), null);
  });

  it("is between 1/n and 1 and does not depend on the unit", () => {
    const waits = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(waits, fc.integer({ min: 2, max: 1_000 }), (values, factor) => {
        const jain = jainIndex(values) ?? 0;
        assert.ok(jain >= 1 / values.length - 1e-9 && jain <= 1 + 1e-9, `${jain}`);
        assert.ok(Math.abs(jain - (jainIndex(values.map((value) => value * factor)) ?? 0)) < 1e-9);
      }),
    );
  });
});

describe("fairnessOf", () => {
  it("uses the waits of served purchases and names the longest wait of all", () => {
    const lost = op({ waitNs: 0, answeredNs: 90 * MS, outcome: "contended" });
    const ops = [op({ waitNs: 0, grantedNs: 10 * MS }), op({ waitNs: 0, readNs: 10 * MS }), lost, op()];
    const fairness = fairnessOf(history({ ops }).ops);
    assert.deepEqual(fairness, { jain: 1, longestWaitMs: 90, longestWaitOpId: lost.opId });
  });

  it("ignores refused purchases in the index and names the first of equal longest waits", () => {
    const wait = (ms: number) => op({ waitNs: 0, grantedNs: ms * MS });
    const [longest, asLong] = [wait(30), wait(30)];
    const lost = op({ waitNs: 0, answeredNs: 20 * MS, outcome: "contended" });
    const { jain, longestWaitOpId } = fairnessOf(history({ ops: [wait(10), longest, lost, asLong, wait(10)] }).ops);
    assert.deepEqual([jain, longestWaitOpId], [0.8, longest.opId]);
  });

  it("does not count a purchase that was served at once as a wait", () => {
    const { jain, longestWaitMs } = fairnessOf(history({ ops: [op({ waitNs: 5, grantedNs: 5 })] }).ops);
    assert.deepEqual([jain, longestWaitMs], [null, null]);
  });

  it("is null without waits", () => {
    assert.deepEqual(fairnessOf(history({ ops: [op()] }).ops), {
      jain: null,
      longestWaitMs: null,
      longestWaitOpId: null,
    });
  });
});
