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
const STALE_REPLICA = { faults: [{ id: "redis-failover-stale-replica" as const, atMs: 0 }] };
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
        /^The master had the key product:\d+, the replica sentinel-replica-1 did not, and WAIT reported 0 of 2 replicas; the master was killed, and the Sentinels promoted sentinel-replica-1 \d+ ms later\.$/,
        verdictText(document),
      );
      assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
      assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
    });
  });

  for (const { replicas, refusedUnder } of [
    { replicas: 1, refusedUnder: FAILOVER },
    { replicas: 2, refusedUnder: STALE_REPLICA },
  ]) {
    describe(`with WAIT ${replicas}`, () => {
      before(async () => {
        const env = { REDIS_WAIT_REPLICAS: String(replicas) };
        setEnv(env);
        await openLab(env);
      });
      after(closeLab);

      it(`refuses the lock under ${refusedUnder.faults[0]?.id} while too few replicas can confirm it, and sells after the failover`, async () => {
        // A promotion takes longer than these buyers wait.
        const { document, statuses } = await sell(2, { ...refusedUnder, holdMs: 300, waitTimeoutMs: 1_000 });
        const confirmed = `and WAIT reported ${replicas - 1} of 2 replicas`;
        assert.ok(document.faults[0]?.proof?.includes(confirmed), verdictText(document));
        assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], verdictText(document));
        assert.ok(statuses.includes(503), `expected refused purchases, found ${statuses.join(", ")}`);
        assert.ok(document.counts.sold >= 2, verdictText(document));
      });

      if (replicas > 1) return;
      it("lets a second holder in if one of two replicas confirmed the lock and the other one is promoted", async () => {
        const { document } = await sell(2, STALE_REPLICA);
        assert.match(document.faults[0]?.proof ?? "", /and WAIT reported 1 of 2 replicas/, verdictText(document));
        assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], verdictText(document));
        assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
      });
    });
  }
});
