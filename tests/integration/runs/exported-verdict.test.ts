import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { checkHistory } from "../../../lib/history/check-history";
import { currentNode } from "../../../lib/node/current-node";
import { emptyPercentiles } from "../../../lib/node/figures";
import { closeLockClients } from "../../../lib/node/lock-dependencies";
import type { ClientReport } from "../../../lib/runs/client-report";
import { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { historyLines } from "../../../lib/runs/history-export";
import { NodeClient } from "../../../lib/runs/node-client";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { stockStrategies } from "../../../lib/stock/stock-strategies";
import { serverKinds } from "../../../servers/all-servers";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv(...serverKinds.map(({ variable }) => variable));
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded" });

const BUYERS = 16;
const STOCK = 6;
/** A busy machine needs longer than the default to serve all buyers one after the other. */
const WAIT_TIMEOUT_MS = 30_000;

const client: ClientReport = {
  engine: "test",
  iterations: BUYERS,
  droppedIterations: 0,
  failedRequests: 0,
  arrivalSkewMs: 1,
  latencyMs: emptyPercentiles,
};

// sql-runs.test.ts covers the SQL family.
const strategies = [...stockStrategies.values()].map(({ traits }) => traits).filter(({ family }) => family !== "sql");

/** The check of claims is one for all strategies, so one lock and one atomic strategy of each family claim coupons too. */
const claimsCoupons = ({ id, family, kind }: (typeof strategies)[number]) =>
  strategies.find((other) => other.family === family && other.kind === kind)?.id === id;

describe("the exported history has the verdict of its run", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  let lab: Coordinator;

  before(async () => {
    server = await startHotServer();
    lab = new Coordinator({
      nodes: [new NodeClient({ name: "node-1", url: server.url }, undefined)],
      expectedOf: ({ strategy }) => stockStrategies.get(strategy)?.traits.expected.alone ?? "safe",
      versions: async () => ({ lab: "test" }),
    });
    // A running run left by a killed test would make the lab reject every other run.
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
  });
  after(async () => {
    await lab.stop();
    await server.close();
    await currentNode()[Symbol.asyncDispose]();
    await closeLockClients();
    await postgresPool().end();
  });

  async function sell({ id, target }: RunDocument): Promise<void> {
    const path = target.kind === "product" ? `products/${target.id}/reduce-stock` : `coupons/${target.id}/claim`;
    const buy = (buyer: number) =>
      fetch(`${server.url}/api/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-run-id": id, "x-run-key": lab.runKey(id) ?? "" },
        // Every fourth buyer sends a second request: only one coupon claim per buyer may succeed.
        body: JSON.stringify({ userId: `buyer-${buyer - (buyer % 4 === 3 ? 1 : 0)}` }),
      });
    const answers = await Promise.all(Array.from({ length: BUYERS }, (_, buyer) => buy(buyer)));
    assert.ok(
      answers.every(({ status }) => status < 500),
      `${answers.map(({ status }) => status)}`,
    );
  }

  /** Opens a run, sells and finishes it, also if a purchase failed: an open run would block the runs of the other tests. */
  async function runSale(strategy: string, { kind, holdMs }: { kind: "product" | "coupon"; holdMs: number }) {
    const request = { strategy, stock: STOCK, vus: BUYERS, holdMs, waitTimeoutMs: WAIT_TIMEOUT_MS, target: { kind } };
    const opened = await lab.open(runRequestSchema.parse(request));
    const [sold] = await Promise.allSettled([sell(opened)]);
    const document = await lab.finish(opened.id, { client, awaitClientReport: false });
    if (sold.status === "rejected") throw sold.reason;
    return document;
  }

  for (const traits of strategies) {
    const { id, expected } = traits;
    for (const kind of claimsCoupons(traits) ? (["product", "coupon"] as const) : (["product"] as const)) {
      it(`${id} on a ${kind}: ${expected.alone}`, async () => {
        // An unsafe strategy needs a long hold, so that all buyers read before the first one writes, even on a busy machine.
        const holdMs = expected.alone === "unsafe" ? 500 : 2;
        const document = await runSale(id, { kind, holdMs });
        const { verdict, violations, findings } = await checkHistory(historyLines(document));
        assert.deepEqual(violations, document.violations, JSON.stringify(findings));
        assert.equal(verdict, document.verdict);
        assert.equal(verdict, expected.alone, document.sentences.join(" "));
        if (expected.alone === "unsafe") {
          assert.match(findings[0]?.sentence ?? "", /read \d+, .* read \d+, both wrote \d+/);
        }
      });
    }
  }

  it("states the orders of the closing, although an order with an older id was committed later", async () => {
    const document = await runSale("redis-lock", { kind: "product", holdMs: 2 });
    await postgresPool().query(
      `INSERT INTO orders (id, product_id, user_id, quantity, run_id, op_id, node, strategy)
       SELECT -min(id), $2, 'late', 1, $1, 'late', 'node-1', 'redis-lock' FROM orders WHERE run_id = $1`,
      [document.id, document.target.id],
    );
    const { verdict, violations } = await checkHistory(historyLines(document));
    assert.deepEqual([verdict, violations], ["safe", document.violations]);
  });
});
