import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { FaultRequest } from "../../../lib/faults/request";
import { checkHistory } from "../../../lib/history/check-history";
import { emptyPercentiles } from "../../../lib/node/figures";
import { Coordinator } from "../../../lib/runs/coordinator";
import { type RunDocument, runDocumentSchema, runRequestSchema } from "../../../lib/runs/document";
import { expectedVerdict } from "../../../lib/runs/expected";
import { historyLines } from "../../../lib/runs/history-export";
import { isLabError } from "../../../lib/runs/lab-error";
import { NodeClient } from "../../../lib/runs/node-client";
import { elapsedMs } from "../../../lib/services/monotonic";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { traitsOf } from "../../../lib/stock/stock-strategies";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnMemcached, startOwnMemcached } from "../../support/own-memcached";
import { buyAt, type ShopAnswer, type ShopNode, startShopNodes } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ FAULTS_MAY_EMPTY: "memcached" });

const BUYERS = 80;
const SETTINGS = { stock: 60, vus: BUYERS, holdMs: 10, ttlMs: 1_000, waitTimeoutMs: 20_000 };

describe("a run with a fault", () => {
  let nodes: readonly ShopNode[] = [];
  let memcached: OwnMemcached;
  let lab: Coordinator;

  before(async () => {
    memcached = await startOwnMemcached();
    setEnv({ MEMCACHED_URL: memcached.url });
    nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded");
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
    await memcached?.[Symbol.asyncDispose]();
    await postgresPool().end();
  });

  const open = (strategy: string, faults: readonly FaultRequest[], changes: object = {}) =>
    lab.open(runRequestSchema.parse({ strategy, ...SETTINGS, ...changes, faults }));

  /** All buyers at once, turn by turn at each node. */
  async function sell(strategy: string, faults: readonly FaultRequest[] = [], changes: object = {}) {
    const opened = await open(strategy, faults, changes);
    const answers = await Promise.all(
      Array.from({ length: BUYERS }, (_, buyer) => {
        const node = nodes[buyer % nodes.length] as ShopNode;
        return buyAt(node.url, { productId: opened.target.id }, { userId: `buyer-${buyer}` });
      }),
    );
    return { document: await finish(opened), answers };
  }
  const finish = ({ id }: RunDocument) =>
    lab.finish(id, {
      client: {
        engine: "test",
        iterations: BUYERS,
        droppedIterations: 0,
        failedRequests: 0,
        arrivalSkewMs: 1,
        latencyMs: emptyPercentiles,
      },
      awaitClientReport: false,
    });

  const told = ({ verdict, sentences }: RunDocument) => `${verdict}: ${sentences.join(" ")}`;
  const codes = (answers: readonly ShopAnswer[]) => answers.map(({ body }) => body.error?.code);
  const lengthMs = ({ fromNs, toNs }: RunDocument["faults"][number]) => elapsedMs(BigInt(fromNs), BigInt(toNs));

  describe("pause-holder", () => {
    const pause: FaultRequest = { id: "pause-holder", atMs: 100 };

    it("breaks redis-lock, which is safe without it", async () => {
      const control = await sell("redis-lock");
      assert.equal(control.document.verdict, "safe", told(control.document));
      assert.deepEqual([control.document.expected, control.document.faults], ["safe", []]);

      const { document } = await sell("redis-lock", [pause]);
      const [event] = document.faults;
      assert.ok(event, told(document));
      assert.match(event.proof, /^node-1 stood still for \d+ ms in the hold of buyer-\d+/);
      assert.ok(lengthMs(event) > 2 * SETTINGS.ttlMs, event.proof);
      assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], told(document));
      assert.ok(document.violations.overlappingHolds > 0, told(document));
      assert.ok(document.violations.lostUpdates + document.violations.oversold > 0, told(document));
      assert.deepEqual([document.config.faults, document.missedFaults], [[pause], []]);
      assert.deepEqual(runDocumentSchema.parse(document), document);
    });

    it("leaves redis-fenced safe: the stale write is refused", async () => {
      const { document, answers } = await sell("redis-fenced", [pause]);
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], told(document));
      assert.equal(document.faults.length, 1);
      assert.ok(codes(answers).includes("fence_stale"));
      const { verdict, violations } = await checkHistory(historyLines(document));
      assert.deepEqual([verdict, violations], ["safe", document.violations]);
    });

    it("is in the exported history with its interval and its proof", async () => {
      const { document } = await sell("sql-row-lock", [pause]);
      assert.equal(document.verdict, "safe", told(document));
      let history = "";
      for await (const chunk of historyLines(document)) history += chunk;
      const lines = history.split("\n");
      assert.deepEqual(
        lines.filter((line) => line.startsWith('{"type":"fault"')).map((line) => JSON.parse(line)),
        document.faults.map((fault) => ({ type: "fault", ...fault })),
      );
    });

    it("makes a run inconclusive that it did not come to: no buyer, no pause", async () => {
      const { document } = await sell("redis-lock", [{ ...pause, atMs: 600_000 }]);
      assert.equal(document.verdict, "inconclusive", told(document));
      assert.match(told(document), /fault pause-holder was not seen to take effect: no buyer/);
      const next = await sell("redis-lock");
      assert.equal(next.document.verdict, "safe", "it does not happen to the next run either");
    });
  });

  describe("memcached-flush", () => {
    const flush: FaultRequest = { id: "memcached-flush", atMs: 100, durationMs: 1_500 };

    it("breaks memcached-add, which is safe without it", async () => {
      const control = await sell("memcached-add");
      assert.equal(control.document.verdict, "safe", told(control.document));

      const { document } = await sell("memcached-add", [flush], { holdMs: 80, stock: 30 });
      assert.deepEqual([document.verdict, document.expected], ["unsafe", "unsafe"], told(document));
      assert.match(document.faults[0]?.proof ?? "", /the lock, held by [0-9a-f]+, was there before flush_all and gone/);
      assert.ok(document.violations.overlappingHolds > 0, told(document));
    });

    it("stops the sale of memcached-cas, whose stock is gone", async () => {
      const { document } = await sell("memcached-cas", [{ ...flush, atMs: 0 }], { stock: 1_000_000 });
      assert.equal(document.verdict, "inconclusive", told(document));
      assert.match(document.faults[0]?.proof ?? "", /the stock, \d+ units, was there before/);
      assert.match(told(document), /has vanished/);
    });
  });

  describe("pg-disconnect", () => {
    it("leaves sql-row-lock safe: no acknowledged order is lost, and the others go on", async () => {
      const { document, answers } = await sell("sql-row-lock", [{ id: "pg-disconnect", atMs: 50 }]);
      assert.deepEqual([document.verdict, document.expected], ["safe", "safe"], told(document));
      assert.match(
        document.faults[0]?.proof ?? "",
        /ended a connection of node-[12] that held .*RowShareLock on products.* \(idle in transaction\); connections ended: 1/,
      );
      // None, where its COMMIT was quicker; and what became of a COMMIT without a reply only the database knows.
      const { errors, unknown, sold } = document.counts;
      assert.ok(errors + unknown <= 1, told(document));
      assert.deepEqual([document.stock.orders, document.stock.final], [60, 0]);
      assert.ok(sold >= 60 - unknown, told(document));
      assert.equal(answers.filter(({ status }) => status === 201).length, sold);
    });

    it("leaves a lock elsewhere safe: its holder's write fails, or is there", async () => {
      const { document } = await sell("redis-lock", [{ id: "pg-disconnect", atMs: 50 }]);
      assert.deepEqual([document.verdict, document.faults.length], ["safe", 1], told(document));
    });
  });

  it("is refused with the reason where it cannot be done, before anything is made", async () => {
    const refusal = (strategy: string, fault: FaultRequest, changes?: object) =>
      open(strategy, [fault], changes).then(
        () => assert.fail("it was opened"),
        (error: unknown) => (isLabError(error) ? `${error.code} ${error.message}` : assert.fail(String(error))),
      );
    const pause: FaultRequest = { id: "pause-holder" };
    assert.match(await refusal("sql-guarded", pause), /^fault_not_applicable .*its change is one operation/);
    assert.match(await refusal("none", pause), /^fault_not_applicable .*nobody holds anything/);
    assert.match(await refusal("redis-lock", pause, { nodes: 1 }), /^fault_not_applicable .*one store node/);
    const elsewhere = { ...pause, node: "node-2" };
    assert.match(await refusal("redis-lock", { ...pause, node: "node-9" }), /^invalid_fault faults\.0\.node: "node-9"/);
    assert.match(await refusal("redis-lock", elsewhere, { nodes: 1 }), /^fault_not_applicable/);
  });
});
