import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { Spool } from "../../../lib/node/spool";
import { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { NodeClient } from "../../../lib/runs/node-client";
import { readHistories } from "../../../lib/runs/node-history";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, ShopNode } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
// Not the node's name: a process that restarts ends the run that its earlier instance opened.
setEnv({ STORE_NODE: "killed-node-lab" });

const BUYERS = 12;
const SETTINGS = { holdMs: 5, ttlMs: 5_000, waitTimeoutMs: 10_000 };

describe("a run whose only store node is killed and restarted", () => {
  const spoolDir = mkdtempSync(join(tmpdir(), "killed-node-"));
  let node: ShopNode;
  let lab: Coordinator;

  before(async () => {
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
  });
  beforeEach(async () => {
    const env = { BUYER_RATE_PER_SECOND: "0", SPOOL_DIR: spoolDir };
    node = await ShopNode.start({ name: "node-1", strategy: "sql-guarded", env });
    const client = new NodeClient({ name: "node-1", url: node.url }, undefined);
    lab = new Coordinator({ nodes: [client], expectedOf: () => "safe", versions: async () => ({ lab: "test" }) });
  });
  afterEach(async () => {
    await lab.stop();
    await node[Symbol.asyncDispose]();
  });
  after(async () => {
    rmSync(spoolDir, { recursive: true });
    await postgresPool().end();
  });

  const spooled = (runId: string) => {
    const found = new Spool(join(spoolDir, "node-1"), "test").recover(runId);
    return found ? found.ndjson.split("\n").length - 1 : 0;
  };

  /** Opens a run, sells, kills the node when its operations are on disk, restarts it, and finishes the run. */
  async function runWithKill(strategy: string): Promise<RunDocument> {
    const opened = await lab.open(runRequestSchema.parse({ strategy, stock: 5, vus: BUYERS, ...SETTINGS }));
    const { id, target } = opened;
    const buyers = Array.from({ length: BUYERS }, (_, buyer) => `buyer-${buyer}`);
    await Promise.all(buyers.map((userId) => buyAt(node.url, { productId: target.id }, { userId })));
    await waitUntil(() => spooled(id) === BUYERS, { what: `${BUYERS} operations on disk` });
    await node.kill();
    await node.start();
    return lab.finish(id, { client: clientReport(BUYERS), awaitClientReport: false });
  }

  it("is judged from the operations that the killed process had kept", async () => {
    const document = await runWithKill("none");
    assert.equal(document.verdict, "unsafe", document.sentences.join(" "));
    assert.ok(document.violations.lostUpdates > 0, "expected lost updates among the kept operations");
    assert.equal(document.counts.requests, BUYERS);
  });

  it("is inconclusive if the kept operations show no violation, because others may be missing", async () => {
    const document = await runWithKill("sql-guarded");
    assert.equal(document.verdict, "inconclusive");
    assert.match(document.sentences.join(" "), /node-1 was killed during the run/);
    const [history] = await readHistories(document.id);
    assert.deepEqual([history?.operations, history?.dropped], [BUYERS, 1]);
    assert.equal(document.counts.sold, 5);
    assert.notEqual(document.nodes[0]?.latencyMs.p99, null);
  });
});
