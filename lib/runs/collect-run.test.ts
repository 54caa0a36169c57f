import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptyCounts } from "../node/figures";
import { type NodeRunStats, RunFigures } from "../node/purchase-meter";
import { collectRun, historiesOf, isIdle, nodeReportsOf } from "./collect-run";
import { runDocument } from "./testing/run-fixture";

const RUN = runDocument({ status: "running" });
/** The lab does not wait for its purchases. */
const IMPATIENT = { ...RUN, config: { ...RUN.config, waitTimeoutMs: -60_000 } };
const LINE = { type: "op", host: "h", buyerId: "b", quantity: 1, invokedNs: "0", answeredNs: "5", outcome: "sold" };
const linesOf = (node: string, ...opIds: string[]) =>
  opIds.map((opId) => `${JSON.stringify({ ...LINE, node, opId })}\n`).join("");
const noAnswer = () => Promise.reject(new Error("did not answer"));

/** Calls that a node does not answer. */
type Silence = Partial<Record<"close" | "stats" | "history", typeof noAnswer>>;

interface NodeReport extends Silence {
  readonly stats?: typeof noAnswer;
  readonly figures?: Partial<NodeRunStats>;
  readonly opIds?: readonly string[];
}

function nodeOf(name: string, { figures = {}, opIds = ["op-1", "op-2"], ...silence }: NodeReport = {}) {
  const histograms = new RunFigures().encode();
  const ended = { inFlight: 0, waiters: 0, peakInFlight: 1, recorded: 2, dropped: 0, incompleteInstances: 0 };
  const stats = { node: name, runId: RUN.id, counts: emptyCounts(), ...ended, histograms, ...figures };
  return {
    address: { name, url: "" },
    close: async () => {},
    stats: async (): Promise<NodeRunStats> => stats,
    history: async () => linesOf(name, ...opIds),
    ...silence,
  };
}

/** The history of the second of two nodes, as operations and missing operations. */
async function historyOf(report: NodeReport) {
  const collected = await collectRun(RUN, [nodeOf("node-1"), nodeOf("node-2", report)]);
  const histories = historiesOf(collected);
  assert.deepEqual(
    histories.map(({ node }) => node),
    ["node-1", "node-2"],
    "expected one history of each node",
  );
  assert.deepEqual([histories[0]?.operations, histories[0]?.dropped], [2, 0]);
  return [histories[1]?.operations, histories[1]?.dropped];
}

describe("the end of a run's purchases", () => {
  it("is certain if every node answered and has no purchase in flight", async () => {
    const idle = async (report: NodeReport) =>
      isIdle(await collectRun(IMPATIENT, [nodeOf("node-1"), nodeOf("node-2", report)]));
    assert.equal(await idle({}), true);
    assert.equal(await idle({ figures: { inFlight: 1 } }), false);
    for (const call of ["close", "stats", "history"] as const) assert.equal(await idle({ [call]: noAnswer }), false);
  });
});

describe("the collected history of a node", () => {
  it("has the lines that the node recorded", async () => {
    const histories = historiesOf(await collectRun(RUN, [nodeOf("node-1"), nodeOf("node-2", { opIds: ["op-3"] })]));
    assert.deepEqual(histories, [
      { node: "node-1", operations: 2, dropped: 0, ndjson: linesOf("node-1", "op-1", "op-2") },
      { node: "node-2", operations: 1, dropped: 0, ndjson: linesOf("node-2", "op-3") },
    ]);
  });

  it("counts as missing what the recorder dropped, what is in flight, and what a killed process may have lost", async () => {
    assert.deepEqual(await historyOf({ figures: { dropped: 5 } }), [2, 5]);
    assert.deepEqual(await historyOf({ figures: { incompleteInstances: 1 } }), [2, 1]);
    const collected = await collectRun(IMPATIENT, [nodeOf("node-1", { figures: { inFlight: 3 } })]);
    assert.equal(historiesOf(collected)[0]?.dropped, 3);
  });

  it("is empty and incomplete if the node did not send it", async () => {
    assert.deepEqual(await historyOf({ history: noAnswer }), [0, 1]);
  });

  it("is incomplete if the node did not answer the call to close the run, or the call for its figures", async () => {
    assert.deepEqual(await historyOf({ close: noAnswer }), [2, 1]);
    assert.deepEqual(await historyOf({ stats: noAnswer }), [2, 1]);
  });
});

describe("the reports of the nodes", () => {
  const earlier = { node: "node-2", operations: 1, dropped: 4, ndjson: linesOf("node-2", "op-9") };

  async function reportsOf(report: NodeReport, stored = [earlier]) {
    const collected = await collectRun(RUN, [nodeOf("node-1"), nodeOf("node-2", report)]);
    const { stats, caveats } = nodeReportsOf(RUN.id, collected, stored);
    return {
      silentNodes: caveats.silentNodes,
      figures: stats.map(({ node, counts, dropped }) => [node, counts.sold, dropped]),
    };
  }

  it("come from the nodes that answer", async () => {
    assert.deepEqual(await reportsOf({ figures: { dropped: 2 } }), {
      silentNodes: [],
      figures: [
        ["node-1", 0, 0],
        ["node-2", 0, 2],
      ],
    });
  });

  it("come from the history that an earlier attempt collected, if the node does not answer now", async () => {
    const gone = { close: noAnswer, stats: noAnswer, history: noAnswer };
    assert.deepEqual(await reportsOf(gone), {
      silentNodes: [],
      figures: [
        ["node-1", 0, 0],
        ["node-2", 1, 4],
      ],
    });
    const nothing = { ...earlier, operations: 0, ndjson: "" };
    assert.deepEqual(await reportsOf(gone, [nothing]), { silentNodes: ["node-2"], figures: [["node-1", 0, 0]] });
  });

  it("name a node that did not answer a call, unless an earlier attempt collected its history", async () => {
    for (const silence of [{ close: noAnswer }, { stats: noAnswer }, { history: noAnswer }])
      assert.deepEqual((await reportsOf(silence, [])).silentNodes, ["node-2"]);
    assert.deepEqual((await reportsOf({ close: noAnswer })).silentNodes, ["node-2"]);
    assert.deepEqual((await reportsOf({ history: noAnswer })).silentNodes, []);
  });

  it("say what the figures of all nodes leave open", async () => {
    const stuck = { ...RUN, config: { ...RUN.config, waitTimeoutMs: -60_000 } };
    const nodes = [
      nodeOf("node-1", { figures: { dropped: 2, inFlight: 1 } }),
      nodeOf("node-2", { figures: { dropped: 3, inFlight: 4, incompleteInstances: 1 } }),
    ];
    const { caveats } = nodeReportsOf(RUN.id, await collectRun(stuck, nodes), []);
    assert.deepEqual(caveats, { dropped: 5, silentNodes: [], killedNodes: ["node-2"], stillRunning: 5 });
  });

  it("count no purchase of a node twice that answers with its figures but not with its history", async () => {
    const { figures } = await reportsOf({ history: noAnswer });
    assert.deepEqual(figures, [
      ["node-1", 0, 0],
      ["node-2", 0, 0],
    ]);
  });
});
