import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nowNs } from "../services/monotonic";
import { HolderPauses } from "./holder-pauses";

const START_NS = 1_000_000_000n;

function makeHolder(runId: string | null, change: { buyerId?: string; arrivedNs?: bigint } = {}) {
  const { buyerId = "buyer-1", arrivedNs = START_NS } = change;
  return { runId, buyerId, trace: { opId: "op-1", invokedNs: arrivedNs, holderId: "h-1" } };
}

/** Records the length of each pause instead of stopping the process. */
function makePauses() {
  const stopsMs: number[] = [];
  return { stopsMs, pauses: new HolderPauses((durationMs) => void stopsMs.push(durationMs)) };
}

describe("HolderPauses", () => {
  it("stops the first holder of the run that is due, once, and reports which holder it was", () => {
    const { stopsMs, pauses } = makePauses();
    assert.equal(pauses.arm("run-1", { atMs: 0, durationMs: 250 }), 0);
    pauses.pass(makeHolder(null));
    pauses.pass(makeHolder("run-2"));
    assert.deepEqual(stopsMs, []);
    pauses.pass(makeHolder("run-1", { buyerId: "buyer-7" }));
    pauses.pass(makeHolder("run-1", { buyerId: "buyer-8" }));
    assert.deepEqual(stopsMs, [250]);
    const [outcome] = pauses.disarm("run-1");
    assert.equal(outcome?.status, "paused");
    assert.deepEqual(outcome.status === "paused" && [outcome.buyerId, outcome.holderId], ["buyer-7", "h-1"]);
  });

  it("counts atMs from the arrival of the first purchase that reached its write", () => {
    const { stopsMs, pauses } = makePauses();
    pauses.arm("run-1", { atMs: 60_000, durationMs: 250 });
    pauses.pass(makeHolder("run-1", { arrivedNs: nowNs() }));
    assert.deepEqual(stopsMs, []);
    pauses.arm("run-2", { atMs: 60_000, durationMs: 300 });
    pauses.pass(makeHolder("run-2", { arrivedNs: nowNs() - 61_000_000_000n }));
    assert.deepEqual(stopsMs, [300]);
  });

  it("does not stop a holder after the pause was disarmed, and reports it as disarmed", () => {
    const { stopsMs, pauses } = makePauses();
    pauses.arm("run-1", { atMs: 0, durationMs: 250 });
    assert.deepEqual(pauses.disarm("run-1"), [{ status: "disarmed" }]);
    pauses.pass(makeHolder("run-1"));
    assert.deepEqual([stopsMs, pauses.disarm("run-1")], [[], [{ status: "disarmed" }]]);
    pauses.forget("run-1");
    assert.deepEqual(pauses.disarm("run-1"), []);
  });

  it("lets the purchase continue if the node cannot be stopped, and keeps the reason", () => {
    const pauses = new HolderPauses(() => {
      throw new Error("no shell");
    });
    pauses.arm("run-1", { atMs: 0, durationMs: 250 });
    pauses.pass(makeHolder("run-1"));
    assert.deepEqual(pauses.disarm("run-1"), [{ status: "failed", reason: "no shell" }]);
  });
});
