import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeRunStats } from "../node/purchase-meter";
import { NodeReadings } from "./node-readings";

const statsOf = (node: string, requests: number) => ({ node, counts: { requests } }) as NodeRunStats;
const summary = (stats: readonly NodeRunStats[]) => stats.map(({ node, counts }) => `${node} ${counts.requests}`);

/** A node that answers at once, until it is stopped. */
function makeNode(name: string) {
  let resume: (() => void) | null = null;
  const node = {
    address: { name, url: "" },
    requests: 0,
    calls: 0,
    stop: () => {
      node.answering = new Promise<void>((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume?.(),
    answering: Promise.resolve(),
    async stats() {
      node.calls += 1;
      await node.answering;
      return statsOf(name, node.requests);
    },
  };
  return node;
}

describe("readings of the nodes", () => {
  it("return the last figures of a stopped node, and poll it again after it answers", async () => {
    const [running, stopped] = [makeNode("node-1"), makeNode("node-2")];
    const readings = new NodeReadings([running, stopped], "run-1");
    assert.deepEqual(summary(await readings.readWithin(10_000)), ["node-1 0", "node-2 0"]);
    stopped.stop();
    running.requests = 5;
    stopped.requests = 7;
    assert.deepEqual(summary(await readings.readWithin(5)), ["node-1 5", "node-2 0"]);
    assert.deepEqual([...readings.late], ["node-2"]);
    assert.deepEqual(summary(await readings.readWithin(5)), ["node-1 5", "node-2 0"]);
    assert.equal(stopped.calls, 2, "expected no second call to a node that has not answered the first");
    stopped.resume();
    assert.deepEqual(summary(await readings.readWithin(10_000)), ["node-1 5", "node-2 7"]);
    assert.deepEqual([...readings.late], []);
  });

  it("wait for a node without earlier figures, and for every node without a limit", async () => {
    const stopped = makeNode("node-1");
    const readings = new NodeReadings([stopped], "run-1");
    stopped.stop();
    const first = readings.readWithin(1);
    const last = readings.read();
    stopped.requests = 3;
    stopped.resume();
    assert.deepEqual([summary(await first), summary(await last)], [["node-1 3"], ["node-1 3"]]);
  });

  it("return the last figures of a node that fails, and name it until it answers", async () => {
    const node = makeNode("node-1");
    const readings = new NodeReadings([node], "run-1");
    node.requests = 4;
    await readings.readWithin(10_000);
    node.answering = Promise.reject(new Error("node-1: did not answer"));
    assert.deepEqual(summary(await readings.readWithin(10_000)), ["node-1 4"]);
    assert.deepEqual([...readings.late], ["node-1"]);
    await assert.rejects(readings.read(), /did not answer/, "expected the last reading not to use old figures");
    node.answering = Promise.resolve();
    node.requests = 6;
    assert.deepEqual(summary(await readings.readWithin(10_000)), ["node-1 6"]);
    assert.deepEqual([...readings.late], []);
  });

  it("fail if a node without earlier figures fails", async () => {
    const gone = {
      address: { name: "node-1", url: "" },
      stats: () => Promise.reject(new Error("node-1: did not answer")),
    };
    await assert.rejects(new NodeReadings([gone], "run-1").readWithin(1_000), /did not answer/);
  });
});
