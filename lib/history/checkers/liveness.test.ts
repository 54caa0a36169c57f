import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkLiveness, DEFAULT_SERVED_WITHIN_MS } from "./liveness";

const MS = 1_000_000;
/** Waits from one moment to another, in milliseconds, and is then served, or turned away. */
const served = (fromMs: number, toMs: number, fields: OpFields = {}) =>
  op({ invokedNs: 0, waitNs: fromMs * MS, grantedNs: toMs * MS, answeredNs: toMs * MS, ...fields });
const turnedAway = (fromMs: number, toMs: number) =>
  op({ invokedNs: 0, waitNs: fromMs * MS, answeredNs: toMs * MS, outcome: "contended" });
const fault = (fromMs: number, toMs: number) => ({
  faultId: "kill-holder",
  fromNs: BigInt(fromMs * MS),
  toNs: BigInt(toMs * MS),
});
const check = (ops: readonly ReturnType<typeof op>[], faults = [fault(10, 100)], servedWithinMs: number | null = 50) =>
  checkLiveness(history({ ops, faults, run: servedWithinMs === null ? {} : { servedWithinMs } }));

describe("checkLiveness", () => {
  it("finds a waiter whom the bound passed by, served late or never", () => {
    assert.equal(check([served(5, 150)]).count, 0);
    assert.deepEqual(sentencesOf(check([served(5, 151, { buyerId: "ann" })])), [
      "ann waited at node-1 and was served only 51 ms after kill-holder had healed; 50 ms are allowed.",
    ]);
    assert.equal(check([turnedAway(5, 200)]).count, 1);
  });

  it("excuses a wait by a fault in the meantime, and by none that begins when the bound ends or heals with it", () => {
    const waiter = [served(5, 160)];
    assert.equal(check(waiter, [fault(10, 100), fault(149, 155)]).count, 0);
    assert.equal(check(waiter, [fault(10, 100), fault(150, 155)]).count, 1);
    assert.equal(check(waiter, [fault(10, 100), fault(20, 100)]).count, 2);
  });

  it("reads a fault's times on the clock of the purchases", () => {
    const boot = 5_000_000_000_000n;
    const moved = (line: ReturnType<typeof op>): ReturnType<typeof op> => {
      const times = Object.entries(line).filter(([field]) => field.endsWith("Ns"));
      return {
        ...line,
        ...Object.fromEntries(times.map(([field, ns]) => [field, String(BigInt(ns as string) + boot)])),
      };
    };
    const late = (faults: readonly ReturnType<typeof fault>[]) =>
      check(
        [moved(served(5, 160))],
        faults.map(({ fromNs, toNs, ...rest }) => ({ ...rest, fromNs: fromNs + boot, toNs: toNs + boot })),
      ).count;
    assert.equal(late([fault(10, 100)]), 1);
    assert.equal(late([fault(10, 100), fault(120, 155)]), 0);
  });

  it("asks nothing of a run without a fault, nor of waits that were over when it healed", () => {
    assert.equal(check([served(5, 900)], []).count, 0);
    assert.equal(check([turnedAway(5, 99)]).count, 0);
  });

  it("finds a lock that serves nobody although somebody waits at every moment", () => {
    const oneAfterTheOther = [turnedAway(90, 120), turnedAway(115, 140), turnedAway(140, 170)];
    assert.match(sentencesOf(check(oneAfterTheOther))[0] ?? "", /nobody was served for 50 ms/);
    assert.equal(check([...oneAfterTheOther, served(101, 130)]).count, 0, "somebody was served");
    assert.equal(check([turnedAway(90, 120), turnedAway(121, 170)]).count, 0, "for a moment nobody waited");
  });

  it("is put off by the next fault", () => {
    assert.equal(check([served(5, 300)], [fault(10, 100), fault(120, 290)]).count, 0);
    assert.equal(check([served(5, 400)], [fault(10, 100), fault(120, 290)]).count, 1);
  });

  it("allows 30 seconds where the run names no bound", () => {
    assert.equal(check([served(5, 100 + DEFAULT_SERVED_WITHIN_MS)], undefined, null).count, 0);
    assert.equal(check([served(5, 101 + DEFAULT_SERVED_WITHIN_MS)], undefined, null).count, 1);
  });

  it("counts the waiters that outlast the bound, whatever the order they are recorded in", () => {
    const wait = fc.tuple(fc.nat(100), fc.integer({ min: 100, max: 300 }));
    fc.assert(
      fc.property(fc.array(wait, { minLength: 1 }), (waits) => {
        const late = waits.filter(([, toMs]) => toMs > 150).length;
        assert.equal(check(waits.map(([fromMs, toMs]) => served(fromMs, toMs))).count, late);
      }),
    );
  });
});
