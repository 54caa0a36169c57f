import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { notApplicable } from "./applicability";
import { toFault } from "./operation";
import { history, op } from "./testing/make-history";

const held = { waitNs: 1, grantedNs: 5, releasedNs: 9, answeredNs: 10 };
const fault = toFault({ faultId: "f", fromNs: "1", toNs: "2", promotedReplica: true });

describe("notApplicable", () => {
  it("marks the lock checks as not applicable in a sale without a lock", () => {
    const reasons = notApplicable(history({ ops: [op({ readNs: 2, readValue: 9, answeredNs: 8 })] }));
    for (const check of ["overlappingHolds", "fencingOrder", "staleWrites", "handOff"] as const) {
      assert.equal(reasons[check], "no hold of a lock recorded", check);
    }
    assert.match(reasons.fairness ?? "", /no purchase waited/);
    assert.match(reasons.liveness ?? "", /no fault/);
    assert.equal(reasons.failoverLosses, "no replica of the database was promoted");
    assert.match(reasons.duplicateClaims ?? "", /no limit/);
  });

  it("applies the fencing check only if tokens were recorded", () => {
    assert.match(notApplicable(history({ ops: [op(held)] })).fencingOrder ?? "", /no fencing token/);
    assert.equal(notApplicable(history({ ops: [op(held)] })).overlappingHolds, undefined);
    assert.equal(notApplicable(history({ ops: [op({ ...held, fencingToken: 1 })] })).fencingOrder, undefined);
  });

  it("gives no reason if every check applies", () => {
    const ops = [op({ ...held, fencingToken: 1 }), op({ waitNs: 6, grantedNs: 12, releasedNs: 13, fencingToken: 2 })];
    const { end } = history({ ops });
    const counted = { final: 98, counter: 98, orders: end?.orders ?? [] };
    assert.deepEqual(notApplicable(history({ ops, run: { limitPerBuyer: 1 }, faults: [fault], end: counted })), {});
  });

  it("names the checks that an incomplete history cannot support", () => {
    const faults = [fault];
    assert.deepEqual(Object.keys(notApplicable(history({ isComplete: false }))).includes("strayRows"), true);
    assert.match(notApplicable(history({ end: null })).acknowledgedRows ?? "", /orders were not read/);
    const ops = [op(held), op({ ...held, host: "other" })];
    assert.match(notApplicable(history({ ops, faults })).liveness ?? "", /several hosts/);
  });
});
