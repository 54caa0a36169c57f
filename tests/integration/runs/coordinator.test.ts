import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { checkHistory } from "../../../lib/history/check-history";
import { emptyPercentiles } from "../../../lib/node/figures";
import type { ClientReport } from "../../../lib/runs/client-report";
import { Coordinator } from "../../../lib/runs/coordinator";
import { runDocumentSchema } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { isLabError } from "../../../lib/runs/lab-error";
import { NodeClient } from "../../../lib/runs/node-client";
import { readHistories } from "../../../lib/runs/node-history";
import { readRun, readSamples } from "../../../lib/runs/queries";
import { runRequestSchema } from "../../../lib/runs/run-request";
import type { RunStage } from "../../../lib/runs/run-sample";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded" });

const client: ClientReport = {
  engine: "test",
  iterations: 12,
  droppedIterations: 0,
  failedRequests: 0,
  arrivalSkewMs: 1,
  latencyMs: { ...emptyPercentiles, p50: 5, max: 9 },
};

describe("the coordinator", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  let lab: Coordinator;

  const makeCoordinator = (urls: readonly string[]) =>
    new Coordinator({
      nodes: urls.map((url, index) => new NodeClient({ name: `node-${index + 1}`, url }, undefined)),
      expectedOf: () => "safe",
      versions: async () => ({ lab: "test" }),
    });

  before(async () => {
    server = await startHotServer();
    lab = makeCoordinator([server.url]);
    // A running run left by a killed test would make the lab reject every other run.
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
  });
  after(async () => {
    await lab.stop();
    await server.close();
    await postgresPool().end();
  });

  const open = (fields: object = {}) =>
    lab.open(runRequestSchema.parse({ strategy: "sql-guarded", stock: 5, vus: 12, ...fields }));
  const buy = (productId: number, buyer: number, runId: string) =>
    fetch(`${server.url}/api/products/${productId}/reduce-stock`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-run-id": runId, "x-run-key": lab.runKey(runId) ?? "" },
      body: JSON.stringify({ userId: `buyer-${buyer}` }),
    });
  const sellOut = async (runId: string, productId: number) => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, buyer) => buy(productId, buyer, runId)));
    return answers.map((answer) => answer.status);
  };

  it("creates a row, counts the purchases, and draws the verdict from database and history", async () => {
    const opened = await open();
    assert.equal(opened.status, "running");
    assert.equal(opened.stock.initial, 5);
    const statuses = await sellOut(opened.id, opened.target.id);
    assert.equal(statuses.filter((status) => status === 201).length, 5);
    assert.equal(statuses.filter((status) => status === 409).length, 7);

    const document = await lab.finish(opened.id, { client, awaitClientReport: false });
    assert.deepEqual(runDocumentSchema.parse(document), document);
    assert.equal(document.verdict, "safe", document.sentences.join(" "));
    assert.deepEqual(document.stock, { initial: 5, final: 0, orders: 5 });
    assert.deepEqual(document.counts, {
      requests: 12,
      sold: 5,
      soldOut: 7,
      contended: 0,
      rejected: 0,
      errors: 0,
      unknown: 0,
    });
    assert.equal(document.latencyMs.p50, 5);
    assert.ok(document.contention.peakInFlight >= 2);
    assert.deepEqual(await readRun(opened.id), document);
    assert.ok((await readSamples(opened.id)).length >= 1, "expected at least one sample");
    assert.deepEqual((await readSamples(opened.id)).at(-1)?.counts, document.counts);
  });

  it("sells no unit of a run's row between its load and its verdict, and sells again afterwards", async () => {
    const opened = await open({ stock: 20 });
    await sellOut(opened.id, opened.target.id);
    const walkIn = () =>
      fetch(`${server.url}/api/products/${opened.target.id}/reduce-stock`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"userId":"walk-in"}',
      });
    await lab.finish(opened.id, { awaitClientReport: true });
    const early = await walkIn();
    assert.deepEqual([early.status, early.headers.get("retry-after")], [503, "1"]);
    assert.equal(((await early.json()) as { error: { code: string } }).error.code, "contended");

    const document = await lab.finish(opened.id, { client, awaitClientReport: false });
    assert.deepEqual([document.verdict, document.stock.final], ["safe", 8], document.sentences.join(" "));
    assert.equal((await walkIn()).status, 201);
  });

  it("exports a history whose orders name their operations", async () => {
    const opened = await open();
    await sellOut(opened.id, opened.target.id);
    const document = await lab.finish(opened.id, { client, awaitClientReport: false });
    let text = "";
    for await (const piece of historyLines(document)) text += piece;
    type Line = { type: string; opId?: string; outcome?: string; orders?: { opId: string }[] };
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line): Line => JSON.parse(line));
    assert.deepEqual([lines[0]?.type, lines.at(-1)?.type], ["run", "end"]);
    const sold = lines
      .filter((line) => line.outcome === "sold")
      .map((line) => line.opId)
      .sort();
    assert.equal(lines.filter((line) => line.type === "op").length, 12);
    assert.deepEqual(
      lines
        .at(-1)
        ?.orders?.map((order) => order.opId)
        .sort(),
      sold,
    );
  });

  it("exports a history with the verdict of the run", async () => {
    const opened = await open();
    await sellOut(opened.id, opened.target.id);
    const document = await lab.finish(opened.id, { client, awaitClientReport: false });
    const { verdict, violations, measures, findings } = await checkHistory(historyLines(document));
    assert.equal(verdict, "safe", JSON.stringify(findings));
    assert.deepEqual(violations, document.violations);
    assert.equal(measures.operations, 12);
    assert.equal(measures.peakInFlight, document.contention.peakInFlight);
  });

  it("keeps a run running until the client's report arrives, and draws the verdict with it", async () => {
    const opened = await open();
    await sellOut(opened.id, opened.target.id);
    const provisional = await lab.finish(opened.id, { awaitClientReport: true });
    assert.equal(provisional.status, "running");
    assert.equal(provisional.verdict, "inconclusive");
    assert.equal(provisional.stock.orders, 5);
    const document = await lab.finish(opened.id, { client, awaitClientReport: false });
    assert.equal(document.status, "finished");
    assert.equal(document.verdict, "safe", document.sentences.join(" "));
    const repeated = await lab.finish(opened.id, { client: { ...client, iterations: 999 }, awaitClientReport: false });
    assert.deepEqual(repeated, document);
  });

  it("rejects a second run while one is running, and purchases of a closed run", async () => {
    const opened = await open();
    await assert.rejects(
      open(),
      (error) => isLabError(error) && error.code === "run_active" && error.details?.runId === opened.id,
    );
    await lab.finish(opened.id, { awaitClientReport: false });
    assert.equal((await buy(opened.target.id, 1, opened.id)).status, 409);
  });

  it("fails a run whose load generator died, with the reason first", async () => {
    const opened = await open();
    await lab.fail(opened.id, "The load generator ended with exit code 107.");
    const document = await readRun(opened.id);
    assert.equal(document?.status, "failed");
    assert.equal(document?.verdict, "inconclusive");
    assert.match(document?.sentences[0] ?? "", /exit code 107/);
  });

  it("has the stage of the run and the latency of each interval in its samples", async () => {
    const opened = await open({ engine: "builtin", launch: true, vus: 12 });
    const stagesOf = async () => (await readSamples(opened.id)).map(({ stage }) => stage);
    const reaches = (stage: string) => async () => (await stagesOf()).includes(stage as RunStage);
    await waitUntil(reaches("generator"), { what: "a sample before the generator starts" });
    lab.loadStarted(opened.id);
    await waitUntil(reaches("doors"), { what: "a sample before the first purchase" });
    await sellOut(opened.id, opened.target.id);
    await waitUntil(reaches("selling"), { what: "a sample after the first purchase" });
    await lab.finish(opened.id, { client, awaitClientReport: false });
    const samples = await readSamples(opened.id);
    const seen = samples.map(({ stage }) => stage).filter((stage, index, all) => stage !== all[index - 1]);
    assert.deepEqual(seen, ["generator", "doors", "selling", "closing"]);
    const measured = samples.filter(({ intervalLatencyMs }) => intervalLatencyMs?.p50 != null);
    assert.ok(measured.length >= 1 && measured.length <= 2, `expected one or two intervals, found ${measured.length}`);
    for (const { intervalLatencyMs } of measured)
      assert.ok((intervalLatencyMs?.p99 ?? 0) >= (intervalLatencyMs?.p50 ?? 1), JSON.stringify(intervalLatencyMs));
    assert.deepEqual(samples.at(-1)?.faults, []);
  });

  it("counts only units that can be delivered in the rates of its samples", async () => {
    const opened = await open({ strategy: "none", holdMs: 50 });
    await sellOut(opened.id, opened.target.id);
    const { stock } = await lab.finish(opened.id, { client, awaitClientReport: false });
    assert.ok(stock.orders > stock.initial, `expected more orders than units, found ${stock.orders}`);
    const samples = await readSamples(opened.id);
    const delivered = samples.reduce(
      (sum, { soldPerSecond, atMs }, index) => sum + (soldPerSecond * (atMs - (samples[index - 1]?.atMs ?? 0))) / 1_000,
      0,
    );
    assert.ok(Math.abs(delivered - stock.initial) < 0.01, `expected ${stock.initial} units, found ${delivered}`);
  });

  it("stops a run with the evidence recorded until then, and gives its load generator the same document", async () => {
    const opened = await open({ vus: 40 });
    const limited = await buy(opened.target.id, 1, opened.id);
    assert.equal(limited.status, 201);
    const stopping = lab.stopRun(opened.id);
    const [stopped, finished] = await Promise.all([
      stopping,
      lab.finish(opened.id, { client, awaitClientReport: false }),
      lab.fail(opened.id, "The load generator ended with exit code 105."),
    ]);
    assert.deepEqual([stopped.status, stopped.verdict], ["stopped", "inconclusive"]);
    assert.match(stopped.sentences[0] ?? "", /^The run was stopped after 1 of 40 purchases,/);
    assert.deepEqual(stopped.stock, { initial: 5, final: 4, orders: 1 });
    assert.deepEqual(finished, stopped);
    assert.deepEqual(await readRun(opened.id), stopped);
    assert.equal((await buy(opened.target.id, 2, opened.id)).status, 409, "expected the stopped run to sell no more");
    assert.deepEqual(await lab.stopRun(opened.id), stopped, "expected a second stop to change nothing");
  });

  it("fails the runs that an earlier coordinator left running, but not those that it opened", async () => {
    const left = await open();
    assert.equal((await buy(left.target.id, 1, left.id)).status, 201);
    await lab.failOrphanedRun();
    assert.equal((await readRun(left.id))?.status, "running", "expected the coordinator to leave its own run alone");
    await lab.stop();

    lab = makeCoordinator([server.url]);
    await lab.failOrphanedRun();
    const document = await readRun(left.id);
    assert.equal(document?.status, "failed");
    assert.equal(document?.sentences[0], "The node-1 process restarted during the run.");
    assert.deepEqual(
      document?.stock,
      { initial: 5, final: 4, orders: 1 },
      "expected the figures of the purchase that was made",
    );
    await lab.finish((await open()).id, { awaitClientReport: false });
  });

  it("stops sampling a run that another process has ended, and forgets its key", async () => {
    const opened = await open();
    const other = makeCoordinator([server.url]);
    await other.finish(opened.id, { awaitClientReport: false });
    await waitUntil(() => lab.runKey(opened.id) === undefined, { what: "the opener to forget the run" });
    await other.stop();
  });

  it("opens no run if a node does not acknowledge it", async () => {
    const partlyDown = makeCoordinator([server.url, "http://127.0.0.1:9"]);
    const request = runRequestSchema.parse({ strategy: "sql-guarded", stock: 5 });
    await assert.rejects(partlyDown.open(request), (error) => isLabError(error) && error.code === "node_unavailable");
    await lab.finish((await open()).id, { awaitClientReport: false });
    await partlyDown.stop();
  });

  it("calls a run inconclusive if a node does not answer at its end", async () => {
    const second = await startHotServer();
    const pair = makeCoordinator([server.url, second.url]);
    const opened = await pair.open(runRequestSchema.parse({ strategy: "sql-guarded", stock: 5, vus: 12 }));
    await sellOut(opened.id, opened.target.id);
    await second.close();
    const document = await pair.finish(opened.id, { client, awaitClientReport: false });
    assert.equal(document.verdict, "inconclusive");
    assert.match(document.sentences.join(" "), /node-2/);
    const report = await checkHistory(historyLines(document));
    assert.equal(
      report.verdict,
      "inconclusive",
      "expected a doubt, because the operations of the silent node are missing",
    );
    assert.deepEqual(
      report.findings.map(({ kind }) => kind),
      ["droppedOperations"],
    );
    await pair.stop();
  });

  it("keeps what an earlier attempt to close the run collected from a node that is now silent", async () => {
    const opened = await open();
    await sellOut(opened.id, opened.target.id);
    const first = await lab.finish(opened.id, { awaitClientReport: true });
    assert.equal(first.counts.requests, 12);
    // As if the process that closed the run had ended before it stored the result.
    await prisma().run.update({ where: { id: opened.id }, data: { document: opened, status: "running" } });
    const later = makeCoordinator(["http://127.0.0.1:9"]);
    const document = await later.finish(opened.id, { client, awaitClientReport: false });
    const [stored] = await readHistories(opened.id);
    assert.deepEqual([stored?.operations, stored?.dropped], [12, 0]);
    assert.deepEqual(document.counts, first.counts);
    assert.deepEqual(document.nodes[0]?.latencyMs.max, first.nodes[0]?.latencyMs.max);
    assert.equal(document.verdict, "safe", document.sentences.join(" "));
    await later.stop();
    await lab.stop();
    lab = makeCoordinator([server.url]);
  });

  it("rejects a run and a row that do not exist", async () => {
    await assert.rejects(
      lab.finish("nope", { awaitClientReport: false }),
      (error) => isLabError(error) && error.code === "run_not_found",
    );
    const nowhere = open({ target: { kind: "product", id: 2_147_483_647 } });
    await assert.rejects(nowhere, (error) => isLabError(error) && error.code === "target_not_found");
  });
});
