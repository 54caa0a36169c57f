import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runSample } from "../../tests/support/run-fixture";
import { faultBandsOf } from "./fault-bands";

const clock = { host: "h", startedNs: "5000000000" };
const fault = { faultId: "pause-holder", fromNs: "6000000000", toNs: "6500000000", proof: "stopped for 500 ms" };
const busy = { counts: { ...runSample(1).counts, requests: 5 } };

describe("faultBandsOf", () => {
  it("puts a fault where the charts' first second has it", () => {
    // Quiet until 750 ms after the run was opened: there the charts begin.
    const samples = [runSample(1), runSample(2), runSample(3), runSample(4, busy)];
    assert.deepEqual(faultBandsOf({ faults: [fault], clock }, samples), [
      { label: "pause-holder", fromS: 0.25, toS: 0.75 },
    ]);
  });

  it("cuts off what lies before the charts, and has none without the clock", () => {
    const early = { ...fault, fromNs: "4000000000" };
    assert.equal(faultBandsOf({ faults: [early], clock }, [runSample(1, busy)])[0]?.fromS, 0);
    assert.deepEqual(faultBandsOf({ faults: [fault], clock: undefined }, []), []);
  });
});
