import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { FaultRequest } from "../../../lib/faults/request";
import { emptyPercentiles } from "../../../lib/node/figures";
import { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { expectedVerdict } from "../../../lib/runs/expected";
import { NodeClient } from "../../../lib/runs/node-client";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { traitsOf } from "../../../lib/stock/stock-strategies";
import { requireEnv } from "../../support/lab-env";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "MEMCACHED_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");

const NAMES = ["node-1", "node-2"];
const BUYERS = 8;
/** One after the other, so that a run shows each of them. */
const FAULTS: readonly FaultRequest[] = [
  { id: "latency", atMs: 0, durationMs: 400 },
  { id: "slicer", atMs: 500, durationMs: 400 },
  { id: "reset_peer", atMs: 1_000, durationMs: 150 },
  { id: "down", atMs: 1_300, durationMs: 300 },
];
const LOAD_MS = 2_000;

describe("a sale under faults of the network", () => {
  let nodes: readonly ShopNode[] = [];
  let lab: Coordinator;

  before(async () => {
    nodes = await startShopNodes(NAMES, "sql-guarded");
    lab = new Coordinator({
      nodes: nodes.map(({ url }, index) => new NodeClient({ name: `node-${index + 1}`, url }, undefined)),
      expectedOf: (request, count) => expectedVerdict(traitsOf(request.strategy), { ...request, nodes: count }),
      versions: async () => ({ lab: "test" }),
    });
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
  });
  after(async () => {
    await lab?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  /** Buyers who buy again and again, on both nodes, until the last fault has ended. */
  async function sell(strategy: string, faults: readonly FaultRequest[], loadMs = LOAD_MS): Promise<RunDocument> {
    const settings = { stock: 400, vus: BUYERS, holdMs: 5, ttlMs: 1_000, waitTimeoutMs: 10_000 };
    const { id, target } = await lab.open(runRequestSchema.parse({ strategy, ...settings, faults }));
    const startMs = performance.now();
    let purchases = 0;
    const buyer = async (number: number) => {
      const { url } = nodes[number % nodes.length] as ShopNode;
      while (performance.now() - startMs < loadMs) {
        purchases += 1;
        await buyAt(url, { productId: target.id }, { userId: `buyer-${purchases}` });
      }
    };
    await Promise.all(Array.from({ length: BUYERS }, (_, number) => buyer(number)));
    const figures = { droppedIterations: 0, failedRequests: 0, arrivalSkewMs: 1, latencyMs: emptyPercentiles };
    return lab.finish(id, { client: { engine: "test", iterations: purchases, ...figures }, awaitClientReport: false });
  }

  const text = ({ verdict, sentences, faults }: RunDocument) =>
    `${verdict}: ${sentences.join(" ")} ${faults.map(({ proof }) => proof).join(" ")}`;

  const strategies: Readonly<Record<string, string>> = {
    "redis-lock": "Redis",
    redlock: "Redlock",
    "zk-mutex": "ZooKeeper",
    "etcd-lock": "etcd",
    "memcached-add": "Memcached",
    "sql-guarded": "PostgreSQL",
    "sql-row-lock": "PostgreSQL",
  };
  for (const [strategy, server] of Object.entries(strategies)) {
    it(`leaves ${strategy} safe, and each fault acted on its connections to ${server}`, async () => {
      const document = await sell(strategy, FAULTS);
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], text(document));
      assert.deepEqual(document.missedFaults, [], text(document));
      for (const [index, { id }] of FAULTS.entries()) {
        const { faultId, proof = "" } = document.faults[index] ?? {};
        assert.equal(faultId, id, text(document));
        const [, connections] = new RegExp(`(\\d+) connections? to ${server} \\(`).exec(proof) ?? [];
        assert.ok(Number(connections) > 0, `expected connections to ${server}, found: ${proof}`);
      }
      assert.ok(document.counts.sold > 0, text(document));
    });
  }

  it("acts on the named node only, whose purchases fail while the other node sells", async () => {
    const down: FaultRequest = { id: "down", atMs: 200, durationMs: 400, node: "node-2" };
    const document = await sell("sql-guarded", [down], 1_000);
    assert.equal(document.verdict, "safe", text(document));
    assert.match(
      document.faults[0]?.proof ?? "",
      /^down acted on \d+ connections? to PostgreSQL \(0 bytes\) of node-2\.$/,
    );
    const [first, second] = document.nodes.map(({ counts }) => counts.errors + counts.unknown);
    assert.ok(first === 0 && Number(second) > 0, `expected failures on node-2 only, found ${first} and ${second}`);
  });

  it("is missed, and the run is inconclusive, if the load ends before the fault begins", async () => {
    const document = await sell("sql-guarded", [{ id: "latency", atMs: 60_000 }], 200);
    assert.equal(document.verdict, "inconclusive", text(document));
    assert.match(text(document), /fault latency was not seen to take effect: the load ended less than 60000 ms/);
  });
});
