import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nowNs } from "../services/monotonic";
import { HolderPauses } from "./holder-pauses";

const BEGINNING = 1_000_000_000n;

function holder(runId: string | null, change: { buyerId?: string; arrivedNs?: bigint } = {}) {
  const { buyerId = "buyer-1", arrivedNs = BEGINNING } = change;
  return { runId, buyerId, trace: { opId: "op-1", invokedNs: arrivedNs, holderId: "h-1" } };
}

/** Pauses that are only written down. */
function makePauses() {
  const stops: number[] = [];
  return { stops, pauses: new HolderPauses((durationMs) => void stops.push(durationMs)) };
}

describe("pauses of a node's holders", () => {
  it("stop the first holder of their run that comes at their time, once, and say whom", () => {
    const { stops, pauses } = makePauses();
    assert.equal(pauses.arm("run-1", { atMs: 0, durationMs: 250 }), 0);
    pauses.pass(holder(null));
    pauses.pass(holder("run-2"));
    assert.deepEqual(stops, []);
    pauses.pass(holder("run-1", { buyerId: "buyer-7" }));
    pauses.pass(holder("run-1", { buyerId: "buyer-8" }));
    assert.deepEqual(stops, [250]);
    const [outcome] = pauses.disarm("run-1");
    assert.equal(outcome?.status, "paused");
    assert.deepEqual(outcome.status === "paused" && [outcome.buyerId, outcome.holderId], ["buyer-7", "h-1"]);
  });

  it("count their time from the arrival of the first purchase that came to its write", () => {
    const { stops, pauses } = makePauses();
    pauses.arm("run-1", { atMs: 60_000, durationMs: 250 });
    pauses.pass(holder("run-1", { arrivedNs: nowNs() }));
    assert.deepEqual(stops, []);
    pauses.arm("run-2", { atMs: 60_000, durationMs: 300 });
    pauses.pass(holder("run-2", { arrivedNs: nowNs() - 61_000_000_000n }));
    assert.deepEqual(stops, [300]);
  });

  it("do not happen after they were called off, and say so", () => {
    const { stops, pauses } = makePauses();
    pauses.arm("run-1", { atMs: 0, durationMs: 250 });
    assert.deepEqual(pauses.disarm("run-1"), [{ status: "disarmed" }]);
    pauses.pass(holder("run-1"));
    assert.deepEqual([stops, pauses.disarm("run-1")], [[], [{ status: "disarmed" }]]);
    pauses.forget("run-1");
    assert.deepEqual(pauses.disarm("run-1"), []);
  });

  it("let the purchase go on where the node cannot be stopped, and keep the reason", () => {
    const pauses = new HolderPauses(() => {
      throw new Error("no shell");
    });
    pauses.arm("run-1", { atMs: 0, durationMs: 250 });
    pauses.pass(holder("run-1"));
    assert.deepEqual(pauses.disarm("run-1"), [{ status: "failed", reason: "no shell" }]);
  });
});
