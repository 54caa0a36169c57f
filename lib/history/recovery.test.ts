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
    const expected = { nextGrantMs: 250, unserved: 0, watchedMs: 300, lastGrantMs: 300, lossSignalMs: null };
    assert.deepEqual(recovery(...ops), expected);
    assert.deepEqual(recovery(...ops.reverse()), expected);
  });

  it("counts the purchases that did not get the lock, and says for how long they were watched", () => {
    const blocked = recovery(served(10, 90), refused(20, 100), refused(20, 5_100), refused(300, 2_000));
    const none = { nextGrantMs: null, lastGrantMs: null, lossSignalMs: null };
    assert.deepEqual(blocked, { ...none, unserved: 2, watchedMs: 5_000 });
  });

  it("says for how long the lock was not granted after its last grant", () => {
    const found = recovery(served(50, 200), refused(150, 5_100));
    assert.deepEqual([found?.lastGrantMs, found?.watchedMs], [100, 5_000]);
  });

  it("measures how long after the next grant the slowest holder detected that it lost the lock", () => {
    const holder = (lostMs: number) => served(10, 90, { leaseLostNs: lostMs * MS, releasedNs: 2_000 * MS });
    const signal = (...ops: readonly ReturnType<typeof op>[]) => recovery(...ops)?.lossSignalMs;
    assert.equal(signal(holder(900), served(50, 400)), 500);
    assert.equal(signal(holder(300), holder(350), served(50, 400)), -50);
    assert.equal(signal(holder(900), refused(50, 800)), null, "no other purchase got the lock");
    assert.equal(signal(served(50, 400)), null, "no holder lost the lock");
    assert.equal(
      signal(served(10, 150, { leaseLostNs: 900 * MS }), served(50, 400)),
      null,
      "granted after the fault began",
    );
  });

  it("is unknown if no purchase waited, or if the clocks of several hosts are not comparable", () => {
    assert.equal(recovery(served(10, 90)), null);
    assert.equal(recovery(op({ invokedNs: 0, answeredNs: 900 * MS })), null);
    assert.equal(recovery(served(10, 200), op({ host: "elsewhere" })), null);
  });
});
