import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ArmedFault, FaultRequest } from "../faults/request";
import { type ArmableRun, notArmable, planArmedFault } from "./arm-fault";
import type { RunDocument } from "./document";
import { runDocument } from "./testing/run-fixture";

// The store nodes of the lab decide whether a fault of the network is available.
process.env.DATABASE_URL ??= "postgresql://lab@127.0.0.1:9/none";

const NODES = ["node-1", "node-2"];
function selling(faults: FaultRequest[] = []): RunDocument {
  const document = runDocument({ strategy: "redis-lock", status: "running", expected: "safe" });
  return { ...document, config: { ...document.config, nodes: 2, holdMs: 5, ttlMs: 1_000, faults } };
}
const arm = (armed: ArmedFault, faults?: FaultRequest[], topology: ArmableRun["topology"] = null) =>
  planArmedFault(armed, { document: selling(faults), topology, nodeNames: NODES, sellingMs: 2_500 });

describe("a fault that is armed in a running sale", () => {
  it("is added to the run's settings at its time since the first purchase, and changes the expected verdict", () => {
    const { document, planned } = arm({ id: "pause-holder", inMs: 500, durationMs: 4_000, node: "node-2" });
    assert.deepEqual(document.config.faults, [{ id: "pause-holder", durationMs: 4_000, node: "node-2", atMs: 3_000 }]);
    assert.equal(document.expected, "unsafe");
    assert.deepEqual([planned.nodeName, planned.durationMs, planned.atMs], ["node-2", 4_000, 0]);
  });

  it("is refused with the field if the request is wrong", () => {
    assert.throws(
      () => arm({ id: "pause-holder", node: "node-9" }),
      /^LabError: node: "node-9" must be one of node-1, node-2/,
    );
    assert.throws(() => arm({ id: "kill-holder", durationMs: 500 }), /durationMs: kill-holder is instant/);
    const four = Array.from({ length: 4 }, (): FaultRequest => ({ id: "kill-holder" }));
    assert.throws(() => arm({ id: "kill-holder" }, four), /id: the run already has 4 faults/);
  });

  it("may act on the network of its node and server, without proxies yet", () => {
    const { planned } = arm({ id: "latency", server: "redis", node: "node-1" });
    assert.deepEqual([planned.nodeNames, planned.servers], [["node-1"], ["redis"]]);
  });

  it("is refused if it acts on a server that the run's topology replaces", () => {
    const servers = { redis: "redis+sentinel://127.0.0.1:16482/lab" };
    const topology = { addresses: { servers } } as unknown as ArmableRun["topology"];
    assert.throws(
      () => arm({ id: "latency" }, [], topology),
      /acts on redis, .* Name another server, or open a new run/,
    );
    assert.deepEqual(arm({ id: "latency", server: "postgres" }, [], topology).planned.servers, ["postgres"]);
  });

  it("is refused if it needs a topology that the run was not opened with", () => {
    process.env.LAB_CONTROL_FILE = "/nowhere";
    const { config, ...document } = selling();
    const run = { document: { ...document, config: { ...config, ttlMs: 10_000 } }, topology: null };
    assert.throws(
      () => planArmedFault({ id: "redis-failover" }, { ...run, nodeNames: NODES, sellingMs: 0 }),
      /needs the servers of the topology sentinel from the first purchase on\. Open a new run with redis-failover\./,
    );
  });

  it("is refused with the reason if the run does not sell", () => {
    const { code, message } = notArmable(runDocument({ id: "r1", status: "finished" }));
    assert.deepEqual(
      [code, message],
      ["run_not_running", "Run r1 has ended with the status finished. Start a new run with the fault."],
    );
    assert.match(notArmable(selling()).message, /is over, or another process opened the run/);
  });
});
