import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Fault, Injection } from "../faults/fault";
import { isLostDatabase } from "../services/lost-database";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { RunDocument } from "./document";
import { FaultMeans } from "./fault-means";
import type { NodeClient } from "./node-client";
import type { PlannedFault } from "./plan-faults";
import { RunFaults } from "./run-faults";
import { labDatabase } from "./stock-database";

const DOCUMENT = { id: "run-1", strategy: "redis-lock", config: { ttlMs: 1_000, nodes: 1 } } as unknown as RunDocument;
const NODE = {
  address: { name: "node-1", url: "" },
  stats: async () => ({ counts: { requests: 0 } }),
} as unknown as NodeClient;

/** A fault that first waits for `prepared`, then for its moment. */
function planned(prepared: Promise<void>): PlannedFault {
  const inject = async ({ untilDue }: Injection) => {
    await prepared;
    await untilDue();
    throw new Error("the load is over");
  };
  const fault = { id: "pause-holder", inject } as unknown as Fault;
  return { fault, atMs: 0, durationMs: 0, nodeName: "node-1", nodeNames: [], servers: [], topology: null };
}

describe("the faults of a run", () => {
  it("are armed before the load may start", async () => {
    const faults = new RunFaults([NODE]);
    let prepare = () => {};
    const prepared = new Promise<void>((resolve) => {
      prepare = resolve;
    });
    let isStarted = false;
    const started = faults
      .start(DOCUMENT, [planned(Promise.resolve()), planned(prepared)], await FaultMeans.open([]))
      .then(() => {
        isStarted = true;
      });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isStarted, false, "expected the run to wait for the second fault");
    prepare();
    await started;
    await faults.stop();
  });

  it("include one that is armed while the run sells, in its time from now", async () => {
    const faults = new RunFaults([NODE]);
    assert.equal(faults.armable("run-1"), null, "expected no run before it is open");
    await faults.start(DOCUMENT, [], await FaultMeans.open([]));
    assert.equal(faults.armable("run-1")?.document, DOCUMENT);
    let begunNs: bigint | null = null;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const inject = async () => {
      begunNs = nowNs();
      begin();
      return { fromNs: 1n, toNs: 2n, proof: "planted" };
    };
    const armed = { ...planned(Promise.resolve()), fault: { id: "down", inject } as unknown as Fault };
    const config = { ...DOCUMENT.config, faults: [{ id: "down" as const, atMs: 40 }] };
    const armedNs = nowNs();
    faults.arm({ ...DOCUMENT, config, expected: "unsafe" }, armed, 30);
    assert.deepEqual(faults.live("run-1", new Set()), [{ id: "down", node: null, isActive: false }]);
    await begun;
    assert.ok(elapsedMs(armedNs, begunNs ?? 0n) >= 29, "expected the fault 30 ms later");
    const settled = await faults.settled(DOCUMENT);
    assert.deepEqual([settled.config.faults, settled.expected], [config.faults, "unsafe"]);
    assert.deepEqual(settled.faults, [{ faultId: "down", fromNs: "1", toNs: "2", proof: "planted" }]);
    assert.equal(faults.armable("run-1"), null, "expected no fault after the load is over");
    await faults.stop();
  });

  it("do not keep a run waiting that fails to prepare them", async () => {
    const faults = new RunFaults([NODE]);
    await faults.start(DOCUMENT, [planned(Promise.reject(new Error("no server")))], await FaultMeans.open([]));
    await faults.stop();
  });

  it("decide which database has the stock and the orders of a run", async () => {
    const faults = new RunFaults([NODE]);
    assert.equal(faults.stockOf(DOCUMENT), labDatabase);
    const config = { ...DOCUMENT.config, faults: [{ id: "pg-failover" as const }] };
    const stock = faults.stockOf({ ...DOCUMENT, config });
    const error = await stock.read(async () => {}).catch((cause: Error) => cause);
    assert.match(String(error), /cannot be read: it ended with the process that opened the run/);
    assert.equal(isLostDatabase(error), false, "expected the lab to fail the run instead of repeating its end");
  });
});
