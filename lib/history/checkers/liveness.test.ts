import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { history, type OpFields, op, sentencesOf } from "../testing/make-history";
import { checkLiveness, DEFAULT_SERVED_WITHIN_MS } from "./liveness";

const MS = 1_000_000;
/** A purchase that waits from `fromMs` to `toMs` and is then served. */
const served = (fromMs: number, toMs: number, fields: OpFields = {}) =>
  op({ invokedNs: 0, waitNs: fromMs * MS, grantedNs: toMs * MS, answeredNs: toMs * MS, ...fields });
/** A purchase that waits from `fromMs` to `toMs` and is then refused. */
const refused = (fromMs: number, toMs: number) =>
  op({ invokedNs: 0, waitNs: fromMs * MS, answeredNs: toMs * MS, outcome: "contended" });
const fault = (fromMs: number, toMs: number) => ({
  faultId: "kill-holder",
  fromNs: BigInt(fromMs * MS),
  toNs: BigInt(toMs * MS),
});
const check = (ops: readonly ReturnType<typeof op>[], faults = [fault(10, 100)], servedWithinMs: number | null = 50) =>
  checkLiveness(history({ ops, faults, run: servedWithinMs === null ? {} : { servedWithinMs } }));

describe("checkLiveness", () => {
  it("finds a waiter that exceeds the bound, served late or not served", () => {
    assert.equal(check([served(5, 150)]).count, 0);
    assert.deepEqual(sentencesOf(check([served(5, 151, { buyerId: "ann" })])), [
      "ann at node-1 was served 51 ms after kill-holder healed; the limit is 50 ms.",
    ]);
    assert.equal(check([refused(5, 200)]).count, 1);
  });

  it("excuses a wait by another fault within the bound, but not by one that starts at its end or heals at its start", () => {
    const waiter = [served(5, 160)];
    assert.equal(check(waiter, [fault(10, 100), fault(149, 155)]).count, 0);
    assert.equal(check(waiter, [fault(10, 100), fault(150, 155)]).count, 1);
    assert.equal(check(waiter, [fault(10, 100), fault(20, 100)]).count, 2);
  });

  it("compares fault times with the clock of the purchases", () => {
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

  it("finds nothing without a fault, or if all waits ended before it healed", () => {
    assert.equal(check([served(5, 900)], []).count, 0);
    assert.equal(check([refused(5, 99)]).count, 0);
  });

  it("finds a lock that serves no waiter although at least one is always waiting", () => {
    const unbroken = [refused(90, 120), refused(115, 140), refused(140, 170)];
    assert.match(sentencesOf(check(unbroken))[0] ?? "", /^No waiter was served within 50 ms/);
    assert.equal(check([...unbroken, served(101, 130)]).count, 0, "expected no finding: one waiter was served");
    assert.equal(
      check([refused(90, 120), refused(121, 170)]).count,
      0,
      "expected no finding: for 1 ms no purchase waited",
    );
  });

  it("counts a waiter as served in time at either end of the bound", () => {
    const unbroken = [refused(90, 120), refused(115, 140), refused(140, 170)];
    assert.equal(check([...unbroken, served(90, 100)]).count, 0, "served when the fault healed");
    assert.equal(check([...unbroken, served(101, 150)]).count, 0, "served at the end of the bound");
    assert.equal(check([refused(90, 120), refused(115, 150)]).count, 0, "waited until the end of the bound");
  });

  it("follows the waits in any order of the lines, past shorter waits and waits that ended before", () => {
    const endedBefore = [refused(90, 95), refused(99, 140), refused(130, 170)];
    const shorterWithin = [refused(90, 140), refused(95, 110), refused(130, 170)];
    for (const waits of [endedBefore, shorterWithin]) {
      assert.equal(check(waits).count, 1);
      assert.equal(check([...waits].reverse()).count, 1);
    }
  });

  it("does not compare fault times with the clocks of several hosts", () => {
    assert.equal(check([served(5, 900), op()]).count, 1);
    assert.equal(check([served(5, 900), op({ host: "elsewhere" })]).count, 0);
  });

  it("restarts the bound at the next fault", () => {
    assert.equal(check([served(5, 300)], [fault(10, 100), fault(120, 290)]).count, 0);
    assert.equal(check([served(5, 400)], [fault(10, 100), fault(120, 290)]).count, 1);
  });

  it("uses a bound of 30 seconds if the run line has none", () => {
    assert.equal(check([served(5, 100 + DEFAULT_SERVED_WITHIN_MS)], undefined, null).count, 0);
    assert.equal(check([served(5, 101 + DEFAULT_SERVED_WITHIN_MS)], undefined, null).count, 1);
  });

  it("counts the waiters that exceed the bound, in any order of the lines", () => {
    const wait = fc.tuple(fc.nat(100), fc.integer({ min: 100, max: 300 }));
    fc.assert(
      fc.property(fc.array(wait, { minLength: 1 }), (waits) => {
        const late = waits.filter(([, toMs]) => toMs > 150).length;
        assert.equal(check(waits.map(([fromMs, toMs]) => served(fromMs, toMs))).count, late);
      }),
    );
  });
});
