import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeRunStats } from "../node/purchase-meter";
import { NodeReadings } from "./node-readings";

const said = (node: string, requests: number) => ({ node, counts: { requests } }) as NodeRunStats;
const words = (stats: readonly NodeRunStats[]) => stats.map(({ node, counts }) => `${node} ${counts.requests}`);

/** A node that answers at once, until it stands still. */
function makeNode(name: string) {
  let wake: (() => void) | null = null;
  const node = {
    requests: 0,
    asked: 0,
    standStill: () => {
      node.waiting = new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
    wake: () => wake?.(),
    waiting: Promise.resolve(),
    async stats() {
      node.asked += 1;
      await node.waiting;
      return said(name, node.requests);
    },
  };
  return node;
}

describe("readings of the nodes", () => {
  it("go on with the last word of a node that stands still, and ask it again once it has answered", async () => {
    const [steady, still] = [makeNode("node-1"), makeNode("node-2")];
    const readings = new NodeReadings([steady, still], "run-1");
    assert.deepEqual(words(await readings.readWithin(10_000)), ["node-1 0", "node-2 0"]);
    still.standStill();
    steady.requests = 5;
    still.requests = 7;
    assert.deepEqual(words(await readings.readWithin(5)), ["node-1 5", "node-2 0"]);
    assert.deepEqual(words(await readings.readWithin(5)), ["node-1 5", "node-2 0"]);
    assert.equal(still.asked, 2, "a late node is not asked on top");
    still.wake();
    assert.deepEqual(words(await readings.readWithin(10_000)), ["node-1 5", "node-2 7"]);
  });

  it("wait for a node that has said nothing yet, and for all of them where no limit is given", async () => {
    const still = makeNode("node-1");
    const readings = new NodeReadings([still], "run-1");
    still.standStill();
    const first = readings.readWithin(1);
    const last = readings.read();
    still.requests = 3;
    still.wake();
    assert.deepEqual([words(await first), words(await last)], [["node-1 3"], ["node-1 3"]]);
  });

  it("fail with a node that fails", async () => {
    const gone = { stats: () => Promise.reject(new Error("node-1: did not answer")) };
    await assert.rejects(new NodeReadings([gone], "run-1").readWithin(1_000), /did not answer/);
  });
});
