import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument, runSample } from "../../lib/runs/testing/run-fixture";
import { faultTexts, generatorName, preparationSteps } from "./live-run";
import { modelOf } from "./run-model";

describe("the preparation of a run", () => {
  it("has the steps until the first purchase, with the current one", () => {
    assert.deepEqual(
      preparationSteps("generator", generatorName("k6")).map(({ label, state }) => `${state}: ${label}`),
      ["done: prepare nodes and stock", "current: start k6", "next: wait for the first buyer"],
    );
  });

  it("is shown until purchases arrive", () => {
    const running = runDocument({ status: "running" });
    const stepsAt = (stage: "doors" | "selling") => modelOf(running, [runSample(1, { stage })]).preparation;
    assert.equal(stepsAt("doors")?.find(({ state }) => state === "current")?.label, "wait for the first buyer");
    assert.equal(stepsAt("selling"), null);
    assert.equal(modelOf(runDocument(), [runSample(1, { stage: "doors" })]).preparation, null);
  });
});

describe("faults of an active run", () => {
  const at = (seq: number, isActive: boolean) =>
    runSample(seq, { faults: [{ id: "pause-holder", node: "node-1", isActive }] });

  it("are named with their node and their time so far", () => {
    assert.deepEqual(faultTexts([at(1, false)]), ["pause-holder waits for a lock holder on node-1"]);
    assert.deepEqual(faultTexts([at(1, false), at(2, true), at(10, true)]), [
      "pause-holder: node-1 has not answered for 2.00\u00a0s",
    ]);
    assert.deepEqual(faultTexts([at(1, true), runSample(2, { faults: [] })]), []);
  });
});
