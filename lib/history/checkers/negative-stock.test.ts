import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, op, sentencesOf } from "../testing/make-history";
import { checkNegativeStock } from "./negative-stock";

const wrote = (writtenValue: number, writeAccepted: boolean) =>
  op({ readValue: writtenValue + 1, writeNs: 1, writtenValue, writeAccepted, outcome: "error" });

describe("checkNegativeStock", () => {
  it("finds a write below zero that a later write hides", () => {
    const found = checkNegativeStock(history({ ops: [wrote(-2, true), wrote(0, true)] }));
    assert.equal(found.count, 2);
    assert.deepEqual(sentencesOf(found), ["node-1 read -1 and wrote -2."]);
  });

  it("dates a write by its commit, or by its start if the commit was not recorded", () => {
    const timed = (committedNs?: number) => op({ ...wrote(-1, true), ...(committedNs ? { committedNs: "4" } : {}) });
    const { findings } = checkNegativeStock(history({ ops: [timed(4), timed()], end: null }));
    assert.deepEqual(
      findings.map(({ atNs }) => atNs),
      ["1", "4"],
    );
  });

  it("ignores a rejected write below zero", () => {
    assert.equal(checkNegativeStock(history({ ops: [wrote(-2, false)] })).count, 0);
  });

  it("counts the lowest of final stock, counter and accepted writes", () => {
    const value = fc.integer({ min: -5, max: 5 });
    fc.assert(
      fc.property(value, value, fc.array(fc.tuple(value, fc.boolean())), (final, counter, writes) => {
        const ops = writes.map(([writtenValue, accepted]) => wrote(writtenValue, accepted));
        const accepted = writes.filter(([, isAccepted]) => isAccepted).map(([written]) => written);
        const { count } = checkNegativeStock(history({ ops, end: { final, counter, orders: [] } }));
        assert.equal(count, -Math.min(0, final, counter, ...accepted) + 0);
      }),
    );
  });
});
