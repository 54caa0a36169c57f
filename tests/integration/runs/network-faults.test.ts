import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { FaultRequest } from "../../../lib/faults/request";
import type { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { openFaultLab } from "../../support/fault-lab";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct } from "../../support/rows";
import { clientReport } from "../../support/run-lab";
import { buyAt, type ShopNode, startShopNodes } from "../../support/shop-node";
import { post, startStoreLab } from "../../support/store-lab";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL", "REDIS_URL", "MEMCACHED_URL", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "network-faults-lab" });

const NAMES = ["node-1", "node-2"];
const BUYERS = 8;
/** A lease longer than a busy machine stops a node: otherwise a lock without fencing tokens is not safe. */
const SALE = { vus: BUYERS, holdMs: 5, ttlMs: 4_000, waitTimeoutMs: 15_000 };
/** Between two purchases of a buyer: leaves the processors time to serve the purchases. */
const THINK_MS = 20;
/**
 * One after the other, so that a run shows each of them, and longer than a busy machine stops a node. First those that need
 * purchases: after `reset_peer`, the lock of a write that may be in flight stays taken for one more lease. Then `down`, which
 * counts the connections that it ends, when the clients have connected again.
 */
const FAULTS: readonly FaultRequest[] = [
  { id: "latency", atMs: 0, durationMs: 1_200 },
  { id: "slicer", atMs: 1_300, durationMs: 1_000 },
  { id: "reset_peer", atMs: 2_400, durationMs: 800 },
  { id: "down", atMs: 4_200, durationMs: 800 },
];
const LOAD_MS = 5_100;

describe("a sale under faults of the network", () => {
  let nodes: readonly ShopNode[] = [];
  let lab: Coordinator;

  before(async () => {
    nodes = await startShopNodes(NAMES, "sql-guarded");
    lab = await openFaultLab(nodes);
  });
  after(async () => {
    await lab?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });

  /** Buyers who buy again and again, on both nodes, for `loadMs` after the first answer, from which the faults count. */
  async function sell(strategy: string, faults: readonly FaultRequest[], loadMs = LOAD_MS): Promise<RunDocument> {
    const { id, target } = await lab.open(runRequestSchema.parse({ strategy, ...SALE, stock: 2_000, faults }));
    let firstAnswerMs: number | null = null;
    let purchases = 0;
    const buyer = async (number: number) => {
      const { url } = nodes[number % nodes.length] as ShopNode;
      while (firstAnswerMs === null || performance.now() - firstAnswerMs < loadMs) {
        purchases += 1;
        await buyAt(url, { productId: target.id }, { userId: `buyer-${purchases}` });
        firstAnswerMs ??= performance.now();
        await delay(THINK_MS);
      }
    };
    await Promise.all(Array.from({ length: BUYERS }, (_, number) => buyer(number)));
    return lab.finish(id, { client: clientReport(purchases), awaitClientReport: false });
  }

  const text = ({ verdict, sentences, faults }: RunDocument) =>
    `${verdict}: ${sentences.join(" ")} ${faults.map(({ proof }) => proof).join(" ")}`;

  /** A lease, a session, a statement and a counter. docs/fault-matrix.md has the other strategies. */
  const strategies: Readonly<Record<string, string>> = {
    "redis-lock": "Redis",
    "zk-mutex": "ZooKeeper",
    "sql-guarded": "PostgreSQL",
    "memcached-cas": "Memcached",
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

  for (const strategy of ["redis-lock", "sql-row-lock"]) {
    it(`leaves ${strategy} safe on slow links and when packets are swallowed`, async () => {
      const slow: FaultRequest = { id: "bandwidth", atMs: 0, durationMs: 600 };
      const swallowed: FaultRequest = { id: "timeout", atMs: 700, durationMs: 600 };
      const document = await sell(strategy, [slow, swallowed], 1_700);
      assert.deepEqual([document.verdict, document.missedFaults], ["safe", []], text(document));
      const bytesOf = (proof = "") => [...proof.matchAll(/\((\d+) bytes\)/g)].map(([, bytes]) => Number(bytes));
      for (const { proof } of document.faults) assert.ok(Math.max(0, ...bytesOf(proof)) > 0, text(document));
    });
  }

  it("acts on the named node only, whose purchases fail while the other node sells", async () => {
    // Longer than a busy machine stops a node.
    const down: FaultRequest = { id: "down", atMs: 200, durationMs: 1_000, node: "node-2" };
    const document = await sell("sql-guarded", [down], 1_600);
    assert.equal(document.verdict, "safe", text(document));
    assert.match(
      document.faults[0]?.proof ?? "",
      /^down acted on \d+ connections? to PostgreSQL \(0 bytes\) of node-2\.$/,
    );
    const [first, second] = document.nodes.map(({ counts }) => counts.errors + counts.unknown);
    assert.ok(first === 0 && Number(second) > 0, `expected failures on node-2 only, found ${first} and ${second}`);
  });

  it("acts on the named server only", async () => {
    const document = await sell("redis-lock", [{ id: "latency", atMs: 100, durationMs: 300, server: "redis" }], 600);
    assert.equal(document.verdict, "safe", text(document));
    assert.match(document.faults[0]?.proof ?? "", /^latency acted on \d+ connections? to Redis \(\d+ bytes\) of node-/);
  });

  it("is missed, and the run is inconclusive, if the load ends before the fault begins", async () => {
    const document = await sell("sql-guarded", [{ id: "latency", atMs: 60_000 }], 200);
    assert.equal(document.verdict, "inconclusive", text(document));
    assert.match(text(document), /fault latency was not seen to take effect: the load ended less than 60 s/);
  });

  for (const strategy of ["sql-guarded", "sql-row-lock", "redis-lock"]) {
    it(`sells ${strategy}'s buyer one unit when the reply to the commit is lost and the buyer retries with the same key`, async () => {
      const faults: readonly FaultRequest[] = [{ id: "commit-reply-lost", atMs: 0 }];
      const { id, target } = await lab.open(runRequestSchema.parse({ strategy, ...SALE, stock: 40, faults }));
      let requests = 0;
      let lost = 0;
      const startMs = performance.now();
      const buy = async (userId: string, number: number) => {
        const { url } = nodes[number % nodes.length] as ShopNode;
        for (let attempt = 0; attempt < 20; attempt += 1) {
          requests += 1;
          const { status, body } = await buyAt(url, { productId: target.id }, { userId, key: `key-of-${userId}` });
          if (status === 201 || status === 409) return body.order?.id;
          if (body.error?.code === "outcome_unknown") lost += 1;
        }
        throw new Error(`${userId} got no definite answer`);
      };
      const buyer = async (number: number) => {
        const orders: (readonly [string, string | undefined])[] = [];
        for (let count = 0; performance.now() - startMs < 1_500; count += 1) {
          const userId = `buyer-${number}-${count}`;
          orders.push([userId, await buy(userId, number)]);
        }
        return orders;
      };
      const answers = (await Promise.all(Array.from({ length: BUYERS }, (_, number) => buyer(number)))).flat();
      const document = await lab.finish(id, { client: clientReport(requests - lost), awaitClientReport: false });

      assert.equal(document.verdict, "safe", text(document));
      const { proof = "" } = document.faults[0] ?? {};
      assert.match(proof, /^commit-reply-lost acted on [12] connections? to PostgreSQL/);
      assert.ok(lost > 0 && document.counts.unknown > 0, text(document));
      const rows = await prisma().order.findMany({ where: { productId: target.id } });
      const sold = answers.filter(([, orderId]) => orderId !== undefined);
      assert.deepEqual(
        rows.map((row) => [row.userId, String(row.id)]).sort(),
        sold.map(([userId, orderId]) => [userId, String(orderId)]).sort(),
        "expected one order for each buyer who was told of one, and no other",
      );
    });
  }

  it("ends with the dashboard: purchases of the run fail, the shop sells, and the restarted dashboard ends the run", async () => {
    await using lab = await startStoreLab(NAMES);
    const faults: readonly FaultRequest[] = [{ id: "latency", atMs: 0, durationMs: 10_000 }];
    const settings = { stock: 100, vus: 10, holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 2_000 };
    const opened = await post<RunDocument>(`${lab.dashboard.url}/api/runs`, {
      strategy: "redis-lock",
      ...settings,
      faults,
    });
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    const { id, target } = opened.body;
    const other = await makeProduct(5);
    const [{ url }] = lab.nodes as readonly [ShopNode];
    const buy = (productId: number, userId: string) => buyAt(url, { productId }, { userId });
    assert.equal((await buy(target.id, "before")).status, 201);

    await lab.dashboard.kill();
    const refused = await buy(target.id, "during");
    assert.equal(refused.status, 503, JSON.stringify(refused.body));
    assert.equal((await buy(other, "of-shop")).status, 201);

    await lab.dashboard.start();
    const status = async () => (await prisma().run.findUnique({ where: { id } }))?.status;
    await waitUntil(async () => (await status()) === "failed", { what: "the run to fail" });
    await waitUntil(async () => (await buy(target.id, "after")).status === 201, {
      what: "the shop to sell the row again",
    });
  });
});
