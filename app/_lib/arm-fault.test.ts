import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "@/lib/runs/testing/run-fixture";
import { armedFaultOf, armedText, newRunHref, offeredFaults } from "./arm-fault";
import { configFromQuery } from "./run-config";
import type { CatalogueFault } from "./strategy-catalogue";

const FORM = { id: "pause-holder", node: "", startS: "", lengthS: "" };
const CATALOGUE: readonly CatalogueFault[] = [
  { id: "pause-holder", does: "Stops the node.", topology: null, reasonsAgainst: { none: "it holds no lock" } },
  { id: "latency", does: "Delays data.", topology: null, reasonsAgainst: {} },
  { id: "redis-failover", does: "Ends a server.", topology: "sentinel", reasonsAgainst: { none: "it holds no lock" } },
];

describe("the form that injects a fault into a run in progress", () => {
  it("offers the faults that apply, and a new run for those that need other servers", () => {
    const offered = (strategy: string) => {
      const { inThisRun, inNewRun } = offeredFaults(strategy, CATALOGUE);
      return [inThisRun, inNewRun].map((faults) => faults.map(({ id }) => id));
    };
    assert.deepEqual(offered("redis-lock"), [["pause-holder", "latency"], ["redis-failover"]]);
    assert.deepEqual(offered("none"), [["latency"], []]);
  });

  it("gives the new run the same settings, but this fault in place of its faults", () => {
    const run = runDocument({ strategy: "redis-lock" });
    const config = { ...run.config, stock: 77, faults: [{ id: "latency" as const }] };
    const href = newRunHref({ ...run, config }, CATALOGUE[2] ?? assert.fail());
    const query = Object.fromEntries(new URL(href, "http://lab").searchParams);
    const { strategy, stock, faults } = configFromQuery(query, { nodes: 3, engine: "builtin" });
    assert.deepEqual([strategy, stock, faults], ["redis-lock", 77, [{ id: "redis-failover" }]]);
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
