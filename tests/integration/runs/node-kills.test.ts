import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { FaultRequest } from "../../../lib/faults/request";
import { checkHistory } from "../../../lib/history/check-history";
import { DEFAULT_SESSION_TIMEOUT_MS } from "../../../lib/locks/zookeeper/zk-port";
import type { Coordinator } from "../../../lib/runs/coordinator";
import { type RunDocument, runDocumentSchema } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { readSamples } from "../../../lib/runs/queries";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { elapsedMs } from "../../../lib/services/monotonic";
import { postgresPool } from "../../../lib/services/postgres";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "node-kills-lab" });

const BUYERS = 60;
/** Buyers who arrive at the same moment. */
const GROUP = 4;
const SETTINGS = { stock: 40, vus: BUYERS, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 20_000 };
const KILL: FaultRequest = { id: "kill-holder", atMs: 50 };
const CRASH: FaultRequest = { id: "store-node-crash", atMs: 0 };

describe("a run in which a fault kills a store node", () => {
  const spoolDir = mkdtempSync(join(tmpdir(), "node-kills-"));
  let nodes: readonly ShopNode[] = [];
  let lab: Coordinator;

  before(async () => {
    nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded", {
      env: { SPOOL_DIR: spoolDir },
      isSupervised: true,
    });
    lab = await openFaultLab(nodes);
  });
  after(async () => {
    await lab?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    rmSync(spoolDir, { recursive: true });
    await postgresPool().end();
  });

  /** Buyers alternate between the nodes. A request to a killed node gets no answer. */
  async function sell(strategy: string, fault: FaultRequest, changes: object = {}): Promise<RunDocument> {
    // Waiters of a lock start together. A crash in mid-sale needs buyers before and after it, also on a slow machine, and
    // groups that contend, also on a fast one.
    const gapMs = fault === CRASH ? 200 : 0;
    const opened = await lab.open(runRequestSchema.parse({ strategy, ...SETTINGS, ...changes, faults: [fault] }));
    const answers = await Promise.allSettled(
      Array.from({ length: BUYERS }, async (_, buyer) => {
        await delay(Math.floor(buyer / GROUP) * gapMs);
        const node = nodes[buyer % nodes.length] as ShopNode;
        return buyAt(node.url, { productId: opened.target.id }, { userId: `buyer-${buyer}` });
      }),
    );
    const failedRequests = answers.filter(({ status }) => status === "rejected").length;
    assert.ok(failedRequests > 0, "expected requests without an answer");
    const client = { ...clientReport(BUYERS), failedRequests };
    return lab.finish(opened.id, { client, awaitClientReport: false });
  }

  const verdictText = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;
  function recoveryOf(document: RunDocument) {
    const [recovery] = document.recovery ?? [];
    assert.ok(recovery, verdictText(document));
    return recovery;
  }
  function assertSafe(document: RunDocument): void {
    assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
    assert.equal(document.faults[0]?.killedNode, "node-1");
    assert.deepEqual(runDocumentSchema.parse(document), document);
  }

  it("grants redis-lock to the next buyer when the killed holder's lease has expired, and oversells nothing", async () => {
    // A busy machine can stop a node for longer than a short lease.
    const document = await sell("redis-lock", KILL, { ttlMs: 3_000 });
    assertSafe(document);
    assert.match(
      document.faults[0]?.proof ?? "",
      /^node-1 was killed while buyer-\d+ \(.+\) held the lock, before the write: process \S+ was killed \(SIGKILL\), and process \S+ answered [\d.,]+ m?s later\.$/,
    );
    const { nextGrantMs } = recoveryOf(document);
    assert.ok(nextGrantMs !== null && nextGrantMs > 1_000, `next grant after ${nextGrantMs} ms`);
    assert.ok(document.counts.unknown > 0, "expected the purchases that the kill ended");
    assert.match(verdictText(document), /got no answer, because node-1 was killed/);
    const { verdict, violations } = await checkHistory(historyLines(document));
    assert.deepEqual([verdict, violations], ["safe", document.violations]);
    const live = (await readSamples(document.id)).flatMap(({ faults = [] }) => faults);
    assert.ok(
      live.some(({ id, node, isActive }) => id === "kill-holder" && node === "node-1" && isActive),
      "expected a sample that names the fault while the node is down",
    );
  });

  it("grants redis-setnx-expire to the next buyer if the holder is killed after its second command", async () => {
    const document = await sell("redis-setnx-expire", KILL);
    assertSafe(document);
    assert.ok(recoveryOf(document).nextGrantMs !== null, verdictText(document));
  });

  it("frees sql-row-lock with the connections of the killed process, before the process is replaced", async () => {
    const document = await sell("sql-row-lock", KILL);
    assertSafe(document);
    const { nextGrantMs } = recoveryOf(document);
    const [{ fromNs, toNs } = assert.fail(verdictText(document))] = document.faults;
    const downMs = elapsedMs(BigInt(fromNs), BigInt(toNs));
    assert.ok(
      nextGrantMs !== null && nextGrantMs < downMs,
      `expected a grant while node-1 was down for ${downMs} ms, found one after ${nextGrantMs} ms`,
    );
  });

  it("frees zk-mutex when the session of the killed process has expired", async () => {
    const document = await sell("zk-mutex", KILL, { stock: 10 });
    assertSafe(document);
    const { nextGrantMs } = recoveryOf(document);
    assert.ok(
      nextGrantMs !== null && nextGrantMs > DEFAULT_SESSION_TIMEOUT_MS / 3,
      `next grant after ${nextGrantMs} ms`,
    );
  });

  it("conserves the stock when a node crashes at any point of its purchases", async () => {
    for (const strategy of ["sql-guarded", "redis-lock"]) {
      // A busy machine can stop a node for longer than a short lease.
      const document = await sell(strategy, CRASH, { ttlMs: 3_000 });
      assertSafe(document);
      const { initial, final, orders } = document.stock;
      assert.equal(initial - final, orders, verdictText(document));
    }
  });
});
