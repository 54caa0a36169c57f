import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recoveryOf } from "./recovery";
import { history, type OpFields, op } from "./testing/make-history";

const MS = 1_000_000;
const served = (fromMs: number, toMs: number, fields: OpFields = {}) =>
  op({ invokedNs: 0, waitNs: fromMs * MS, grantedNs: toMs * MS, answeredNs: toMs * MS, ...fields });
const refused = (fromMs: number, toMs: number) =>
  op({ invokedNs: 0, waitNs: fromMs * MS, answeredNs: toMs * MS, outcome: "contended" });
const recovery = (...ops: readonly ReturnType<typeof op>[]) =>
  recoveryOf(history({ ops }), { fromNs: BigInt(100 * MS) });

describe("recoveryOf", () => {
  it("measures the time from the start of the fault to the next grant, in any order of the lines", () => {
    const ops = [served(10, 90), served(120, 400), served(50, 350), served(10, 100)];
    const expected = { nextGrantMs: 250, unserved: 0, watchedMs: 300 };
    assert.deepEqual(recovery(...ops), expected);
    assert.deepEqual(recovery(...ops.reverse()), expected);
  });

  it("counts the purchases that did not get the lock, and says for how long they were watched", () => {
    const blocked = recovery(served(10, 90), refused(20, 100), refused(20, 5_100), refused(300, 2_000));
    assert.deepEqual(blocked, { nextGrantMs: null, unserved: 2, watchedMs: 5_000 });
  });

  it("is unknown if no purchase waited, or if the clocks of several hosts are not comparable", () => {
    assert.equal(recovery(served(10, 90)), null);
    assert.equal(recovery(op({ invokedNs: 0, answeredNs: 900 * MS })), null);
    assert.equal(recovery(served(10, 200), op({ host: "elsewhere" })), null);
  });
});
