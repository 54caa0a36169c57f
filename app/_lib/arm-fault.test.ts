import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "@/lib/runs/testing/run-fixture";
import { armableFaults, armedFaultOf, armedText } from "./arm-fault";
import type { CatalogueFault } from "./strategy-catalogue";

const FORM = { id: "pause-holder", node: "", startS: "", lengthS: "" };
const CATALOGUE: readonly CatalogueFault[] = [
  { id: "pause-holder", does: "Stops the node.", needsProxies: false, reasonsAgainst: { none: "it holds no lock" } },
  { id: "latency", does: "Delays data.", needsProxies: true, reasonsAgainst: {} },
  { id: "down", does: "Ends connections.", needsProxies: true, reasonsAgainst: {} },
];

describe("the form that injects a fault into a run in progress", () => {
  it("offers the faults that apply, and those of the network if the run has proxies", () => {
    const { config } = runDocument({});
    const offered = (strategy: string, faults: NonNullable<typeof config.faults>) =>
      armableFaults({ strategy, config: { ...config, faults } }, CATALOGUE).map(({ id }) => id);
    assert.deepEqual(offered("redis-lock", []), ["pause-holder"]);
    assert.deepEqual(offered("none", []), []);
    assert.deepEqual(offered("none", [{ id: "latency" }]), ["latency", "down"]);
  });

  it("sends what was entered, in milliseconds", () => {
    assert.deepEqual(armedFaultOf(FORM), { id: "pause-holder" });
    assert.deepEqual(armedFaultOf({ ...FORM, node: "node-2", startS: "1.5", lengthS: "3" }), {
      id: "pause-holder",
      node: "node-2",
      inMs: 1_500,
      durationMs: 3_000,
    });
  });

  it("says what is wrong", () => {
    assert.deepEqual(armedFaultOf({ ...FORM, startS: "soon" }), {
      problem: "Start: a number of seconds, or empty for now.",
    });
    assert.match(JSON.stringify(armedFaultOf({ ...FORM, lengthS: "-1" })), /Length: a number/);
  });

  it("says when the fault starts", () => {
    assert.equal(armedText({ id: "down" }), "down starts now.");
    assert.match(armedText({ id: "down", inMs: 1_500 }), /^down starts in 1\.50\ss\.$/);
  });
});
