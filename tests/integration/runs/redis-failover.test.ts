import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool } from "../../../lib/services/postgres";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL", "LAB_CONTROL_FILE");
setEnv({ STORE_NODE: "redis-failover-lab" });

/** Work that lasts longer than a promotion. The lease outlasts the work. */
const LONG = { stock: 10, vus: 10, holdMs: 6_000, ttlMs: 20_000, waitTimeoutMs: 20_000 };
const FAILOVER = { faults: [{ id: "redis-failover" as const, atMs: 0 }] };
const verdictText = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;

describe("a run whose Redis fails over to a replica without the lock", () => {
  let nodes: readonly ShopNode[] = [];
  let lab: Coordinator;

  async function openLab(env: Readonly<Record<string, string>>): Promise<void> {
    nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded", { env });
    lab = await openFaultLab(nodes);
  }
  async function closeLab(): Promise<void> {
    await lab?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  }

  /** Buyers keep arriving, one per node at a time, until enough of them have bought. */
  async function sell(units: number, changes: object): Promise<{ document: RunDocument; statuses: number[] }> {
    const request = runRequestSchema.parse({ strategy: "redis-lock", ...LONG, ...changes });
    const { id, target } = await lab.open(request);
    const statuses: number[] = [];
    const sold = () => statuses.filter((status) => status === 201).length;
    const arrivals = nodes.map(async ({ url }, node) => {
      while (sold() < units && statuses.length < 60) {
        const { status } = await buyAt(url, { productId: target.id }, { userId: `buyer-${node}-${statuses.length}` });
        statuses.push(status);
      }
    });
    await Promise.all(arrivals);
    const client = clientReport(statuses.length);
    return { document: await lab.finish(id, { client, awaitClientReport: false }), statuses };
  }

  after(() => postgresPool().end());

  describe("without WAIT", () => {
    before(() => openLab({}));
    after(closeLab);

    it("is safe without the fault", async () => {
      const { document } = await sell(2, { holdMs: 500 });
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
    });

    it("lets a second holder into redis-lock while the first one works", async () => {
      const { document } = await sell(2, FAILOVER);
      assert.match(
        document.faults[0]?.proof ?? "",
        /^The master had the key product:\d+, the replica did not, and WAIT reported 0 replicas; the master was killed, and the Sentinels promoted the replica \d+ ms later\.$/,
        verdictText(document),
      );
      assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
      assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
    });
  });

  describe("with WAIT", () => {
    before(async () => {
      setEnv({ REDIS_WAIT_REPLICAS: "1" });
      await openLab({ REDIS_WAIT_REPLICAS: "1" });
    });
    after(closeLab);

    it("refuses the lock while the replica is cut off, and sells when the former master is a replica", async () => {
      // A promotion takes longer than these buyers wait.
      const { document, statuses } = await sell(2, { ...FAILOVER, holdMs: 300, waitTimeoutMs: 1_000 });
      assert.match(document.faults[0]?.proof ?? "", /and WAIT reported 0 replicas/, verdictText(document));
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
      assert.ok(statuses.includes(503), `expected refused purchases, found ${statuses.join(", ")}`);
      assert.ok(document.counts.sold >= 2, verdictText(document));
    });
  });
});
