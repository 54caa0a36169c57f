import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FaultRequest } from "../faults/request";
import { planFaults } from "./plan-faults";
import { runRequestSchema } from "./run-request";

// The store nodes of the lab decide whether a fault of the network is available.
process.env.DATABASE_URL ??= "postgresql://lab@127.0.0.1:9/none";

const NODES = ["node-1", "node-2"];
const SALE = { strategy: "redis-lock", stock: 10, vus: 10, holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 1_000 };
const plan = (fault: FaultRequest) => planFaults(runRequestSchema.parse({ ...SALE, faults: [fault] }), NODES);

describe("the plan of a network fault", () => {
  it("covers all nodes and all servers of the strategy", () => {
    const [planned] = plan({ id: "down" });
    assert.deepEqual([planned?.nodeNames, planned?.servers], [NODES, ["postgres", "redis"]]);
  });

  it("covers the requested node and server only", () => {
    const [planned] = plan({ id: "down", node: "node-2", server: "redis" });
    assert.deepEqual([planned?.nodeNames, planned?.servers], [["node-2"], ["redis"]]);
  });

  it("rejects a server that the strategy does not use, and any server for a fault that acts on none", () => {
    assert.throws(
      () => plan({ id: "down", server: "etcd" }),
      /faults\.0\.server: "etcd": it must be one of postgres, redis/,
    );
    assert.throws(
      () => plan({ id: "pause-holder", server: "redis" }),
      /faults\.0\.server: .*pause-holder acts on no server/,
    );
  });

  it("needs no proxies for another fault", () => {
    assert.deepEqual(plan({ id: "pause-holder" })[0]?.servers, []);
  });
});
