import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { emptyPercentiles } from "../../../lib/node/figures";
import { CheckedRuns, checkRun } from "../../../lib/runs/checked-runs";
import { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { evidenceOf } from "../../../lib/runs/evidence";
import { NodeClient } from "../../../lib/runs/node-client";
import { readRun } from "../../../lib/runs/queries";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
// Not the name of a store node: a node that starts ends the run of an earlier process with its own name.
setEnv({ STORE_NODE: "checked-once-lab" });

const BUYERS = 12;
const NODES = ["node-1", "node-2"];
const client = clientReport(BUYERS, { ...emptyPercentiles, p50: 5, max: 9 });

/** Counts the calls that close a run and fetch its history. */
class CountingNodeClient extends NodeClient {
  readonly calls = { close: 0, history: 0, drift: 0 };

  override close(runId: string): Promise<void> {
    this.calls.close += 1;
    return super.close(runId);
  }

  override history(runId: string): Promise<string> {
    this.calls.history += 1;
    return super.history(runId);
  }

  override drift(runId: string) {
    this.calls.drift += 1;
    return super.drift(runId);
  }
}

interface TestLab {
  readonly lab: Coordinator;
  readonly checks: CheckedRuns;
  readonly nodes: readonly CountingNodeClient[];
  checksMade(): number;
}

describe("a run is checked once", () => {
  let storeNodes: readonly ShopNode[] = [];

  before(async () => {
    storeNodes = await startShopNodes(NODES, "sql-guarded");
    // A running run left by a killed test would make the lab reject every other run.
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
  });
  after(async () => {
    await Promise.all(storeNodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  /** A dashboard process with an empty cache. */
  function startLab(): TestLab {
    let made = 0;
    const checks = new CheckedRuns((source) => {
      made += 1;
      return checkRun(source);
    });
    const nodes = storeNodes.map(({ url }, index) => {
      return new CountingNodeClient({ name: NODES[index] ?? "", url }, undefined);
    });
    const lab = new Coordinator({ nodes, checks, expectedOf: () => "safe", versions: async () => ({ lab: "test" }) });
    return { lab, checks, nodes, checksMade: () => made };
  }

  async function openAndSell({ lab }: TestLab): Promise<RunDocument> {
    const opened = await lab.open(runRequestSchema.parse({ strategy: "sql-guarded", stock: 5, vus: BUYERS }));
    const purchases = Array.from({ length: BUYERS }, (_, buyer) => {
      const { url } = storeNodes[buyer % storeNodes.length] as ShopNode;
      return buyAt(url, { productId: opened.target.id }, { userId: `buyer-${buyer}` });
    });
    await Promise.all(purchases);
    return opened;
  }

  const callsOf = ({ nodes }: TestLab) => nodes.map(({ calls }) => ({ ...calls }));
  // The strategy keeps no counter outside PostgreSQL, so no node is asked for one.
  const once = { close: 1, history: 1, drift: 0 };

  it("with two finish calls, as k6 makes them, and any number of viewers", async () => {
    const here = startLab();
    const { id } = await openAndSell(here);
    const provisional = await here.lab.finish(id, { awaitClientReport: true });
    assert.deepEqual([provisional.status, provisional.verdict], ["running", "inconclusive"]);
    const document = await here.lab.finish(id, { client, awaitClientReport: false });
    assert.deepEqual([document.status, document.verdict], ["finished", "safe"], document.sentences.join(" "));
    assert.deepEqual(document.violations, provisional.violations);
    assert.deepEqual(callsOf(here), [once, once]);
    assert.equal(here.checksMade(), 1);

    const [first, second] = await Promise.all([evidenceOf(document, here.checks), evidenceOf(document, here.checks)]);
    assert.equal(first, second, "viewers share the evidence");
    assert.equal(first.operations, BUYERS);
    assert.deepEqual(first.violations, document.violations);
    assert.equal(here.checksMade(), 1);
    assert.deepEqual(callsOf(here), [once, once]);
    await here.lab.stop();
  });

  it("with finish calls that overlap", async () => {
    const here = startLab();
    const { id } = await openAndSell(here);
    const documents = await Promise.all([
      here.lab.finish(id, { awaitClientReport: true }),
      here.lab.finish(id, { client, awaitClientReport: false }),
      here.lab.finish(id, { client, awaitClientReport: false }),
    ]);
    assert.deepEqual(callsOf(here), [once, once]);
    assert.equal(here.checksMade(), 1);
    assert.deepEqual(documents[1], documents[2]);
    assert.deepEqual(await readRun(id), documents[1]);
    await here.lab.stop();
  });

  it("by a dashboard that restarted, from the stored history, for all viewers together", async () => {
    const before = startLab();
    const { id } = await openAndSell(before);
    const document = await before.lab.finish(id, { client, awaitClientReport: false });
    await before.lab.stop();

    const restarted = startLab();
    const evidence = await Promise.all([1, 2, 3].map(() => evidenceOf(document, restarted.checks)));
    assert.equal(new Set(evidence).size, 1);
    assert.deepEqual(evidence[0]?.violations, document.violations);
    assert.equal(restarted.checksMade(), 1);
    await restarted.lab.stop();
  });

  describe("with a dashboard that restarts between the two finish calls", () => {
    it("takes the client's report, and draws the same verdict without calling a node", async () => {
      const before = startLab();
      const { id } = await openAndSell(before);
      const provisional = await before.lab.finish(id, { awaitClientReport: true });
      await before.lab.stop();

      const restarted = startLab();
      await restarted.lab.failOrphanedRun();
      assert.equal((await readRun(id))?.status, "running", "expected the run to wait for its report");
      const document = await restarted.lab.finish(id, { client, awaitClientReport: false });
      assert.deepEqual([document.status, document.verdict], ["finished", "safe"], document.sentences.join(" "));
      assert.deepEqual(
        [document.counts, document.stock, document.nodes],
        [provisional.counts, provisional.stock, provisional.nodes],
      );
      assert.deepEqual(callsOf(restarted), [
        { close: 0, history: 0, drift: 0 },
        { close: 0, history: 0, drift: 0 },
      ]);
      assert.equal(restarted.checksMade(), 1);
      await restarted.lab.stop();
    });

    it("finishes the run without the report at the report's deadline", async () => {
      const before = startLab();
      const { id } = await openAndSell(before);
      const provisional = await before.lab.finish(id, { awaitClientReport: true });
      await before.lab.stop();
      await prisma().run.update({ where: { id }, data: { deadlineAt: new Date() } });

      const restarted = startLab();
      await restarted.lab.failOrphanedRun();
      await waitUntil(async () => (await readRun(id))?.status === "finished", { what: "the run to finish" });
      const document = await readRun(id);
      assert.deepEqual([document?.verdict, document?.sentences], [provisional.verdict, provisional.sentences]);
      await restarted.lab.stop();
    });
  });
});
