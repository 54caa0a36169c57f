import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { StockStrategy } from "../stock/types";
import type { RunAssignment } from "./run-assignment";
import { RunKeeper, type RunningRun } from "./run-keeper";
import { StoreNode } from "./store-node";

const TARGET = { kind: "product", id: 1 } as const;

function assignmentOf(runId: string): RunAssignment {
  return { runId, strategy: "of-run", target: TARGET, holdMs: 5, ttlMs: 6_000, waitTimeoutMs: 700 };
}

function makeNode(): StoreNode {
  return new StoreNode({
    name: "node-1",
    activeStrategy: "of-shop",
    createStrategy: (id) => ({ id }) as unknown as StockStrategy,
    defaults: { holdMs: 1, ttlMs: 2_000, waitTimeoutMs: 300 },
  });
}

/** A keeper of a node that has just started, and that reads what the test sets. */
function restarted(...running: RunningRun[]) {
  const node = makeNode();
  const database = { running: running as RunningRun[] | Error };
  const keeper = new RunKeeper(node, async () => {
    if (database.running instanceof Error) throw database.running;
    return database.running;
  });
  node.knowsRuns = false;
  return { node, database, keeper };
}

describe("RunKeeper", () => {
  it("takes an open run on again, so that the run's strategy sells its row", async () => {
    const { node, keeper } = restarted({ phase: "open", assignment: assignmentOf("run-1") });
    assert.equal(node.isCurrent(node.plan(TARGET)), false, "expected no sale before the node knows the runs");
    await keeper.check();
    const plan = node.plan(TARGET);
    assert.deepEqual([plan.strategy.id, node.isCurrent(plan)], ["of-run", true]);
    assert.equal(node.stats("run-1")?.incompleteInstances, 1);
  });

  it("keeps the shop away from the target of a run that is prepared or closing", async () => {
    for (const phase of ["preparing", "closing"] as const) {
      const { node, keeper } = restarted({ phase, assignment: assignmentOf("run-1") });
      await keeper.check();
      assert.deepEqual([node.plan(TARGET).run, node.runHolding(TARGET)], [null, "run-1"], phase);
      assert.equal(node.isCurrent(node.plan(TARGET)), false, phase);
      assert.equal(
        node.stats("run-1")?.incompleteInstances,
        phase === "closing" ? 1 : 0,
        "expected no missing operation before a run is open",
      );
    }
  });

  it("sells nothing as the shop until PostgreSQL has answered", async () => {
    const { node, database, keeper } = restarted();
    database.running = new Error("the database system is starting up");
    await keeper.check();
    assert.equal(node.isCurrent(node.plan(TARGET)), false);
    database.running = [];
    await keeper.check();
    assert.equal(node.isCurrent(node.plan(TARGET)), true);
  });

  it("frees the target and the memory of a run that ended without a call to this node", async () => {
    const { node, database, keeper } = restarted({ phase: "open", assignment: assignmentOf("run-1") });
    await keeper.check();
    await keeper.check();
    assert.notEqual(node.run("run-1"), undefined, "expected the node to keep a run that is still running");
    database.running = [];
    await keeper.check();
    assert.deepEqual([node.run("run-1"), node.runHolding(TARGET)], [undefined, null]);
    assert.equal(node.plan(TARGET).strategy.id, "of-shop");
  });

  it("keeps a run that was reserved while PostgreSQL was being asked", async () => {
    const { node, database, keeper } = restarted({ phase: "open", assignment: assignmentOf("run-1") });
    await keeper.check();
    const reserving = new RunKeeper(node, async () => {
      node.reserve({ ...assignmentOf("run-2"), target: { kind: "product", id: 2 } });
      return database.running as RunningRun[];
    });
    await reserving.check();
    assert.notEqual(node.run("run-2"), undefined);
  });
});
