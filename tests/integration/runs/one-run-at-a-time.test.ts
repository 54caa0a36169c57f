import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { emptyPercentiles } from "../../../lib/node/figures";
import { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { isLabError } from "../../../lib/runs/lab-error";
import { NodeClient } from "../../../lib/runs/node-client";
import { readRun } from "../../../lib/runs/queries";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { clientReport } from "../../support/run-lab";
import { buyAt } from "../../support/shop-node";
import { post, type StoreLab, startStoreLab } from "../../support/store-lab";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "runs-test", LOCK_STRATEGY: "sql-guarded" });

const ROUNDS = 20;
const STOCK = 5;

describe("a lab with several processes", () => {
  let lab: StoreLab;

  before(async () => {
    // The run of a killed test would block every other run.
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
    lab = await startStoreLab(["open-a", "open-b"]);
  });
  after(async () => {
    await lab[Symbol.asyncDispose]();
    await postgresPool().end();
  });

  const openAt = (url: string, fields: object = {}) =>
    post<RunDocument>(`${url}/api/runs`, { strategy: "sql-guarded", stock: STOCK, ...fields });
  const finishAt = (url: string, id: string) =>
    post<RunDocument>(`${url}/api/runs/${id}/finish`, { client: clientReport(0, emptyPercentiles) });

  it(`opens one run in each of ${ROUNDS} rounds in which all processes open one, and touches no stock of the others`, async () => {
    const urls = [...lab.nodes, lab.dashboard].map(({ url }) => url);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const products = await Promise.all(urls.map(() => makeProduct(77)));
      const answers = await Promise.all(
        urls.map((url, index) => openAt(url, { target: { kind: "product", id: products[index] } })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(
        statuses,
        [201, 409, 409],
        `round ${round}: ${JSON.stringify(answers.map(({ body }) => body.error))}`,
      );
      for (const { body } of answers.filter(({ status }) => status === 409))
        assert.equal(body.error?.code, "run_active");
      const stocks = await Promise.all(products.map(async (id) => (await productFacts(id)).stock));
      assert.deepEqual(
        stocks.map((stock, index) => [answers[index]?.status, stock]),
        answers.map(({ status }) => [status, status === 201 ? STOCK : 77]),
      );
      const winner = answers.findIndex(({ status }) => status === 201);
      // Any process can finish the run.
      const finished = await finishAt(urls[(winner + 1) % urls.length] ?? "", answers[winner]?.body.id ?? "");
      assert.equal(finished.body.status, "finished", JSON.stringify(finished.body));
    }
  });

  it("opens a run after the process that was opening one has died", async () => {
    const dead = new Coordinator({
      nodes: lab.nodes.map(({ url }, index) => new NeverReserving({ name: `dead-${index}`, url }, undefined)),
      expectedOf: () => "safe",
      versions: async () => ({ lab: "test" }),
    });
    const product = await makeProduct(77);
    const request = { strategy: "sql-guarded", stock: STOCK, target: { kind: "product", id: product } };
    void dead.open(runRequestSchema.parse(request)).catch(() => undefined);
    await waitUntil(() => NeverReserving.wasCalled, { what: "the run to be claimed" });
    const early = await openAt(lab.dashboard.url);
    assert.deepEqual([early.status, early.body.error?.code], [409, "run_active"]);
    assert.match(early.body.error?.message ?? "", /is being opened/);
    await prisma().run.updateMany({ where: { status: "running" }, data: { deadlineAt: new Date(0) } });
    const late = await openAt(lab.dashboard.url);
    assert.equal(late.status, 201, JSON.stringify(late.body));
    assert.equal((await productFacts(product)).stock, 77);
    await finishAt(lab.dashboard.url, late.body.id);
  });

  it("takes back a run that one node cannot open: no row, no stock, and the shop goes on selling", async () => {
    const product = await makeProduct(77);
    const broken = new Coordinator({
      nodes: lab.nodes.map(({ url }, index) => new NeverOpening({ name: `open-${index}`, url }, undefined)),
      expectedOf: () => "safe",
      versions: async () => ({ lab: "test" }),
    });
    const request = { strategy: "sql-guarded", stock: STOCK, target: { kind: "product", id: product } };
    const count = await prisma().run.count();
    await assert.rejects(
      broken.open(runRequestSchema.parse(request)),
      (error) => isLabError(error) && error.code === "node_unavailable",
    );
    assert.equal(await prisma().run.count(), count);
    for (const { url } of lab.nodes) {
      assert.equal((await buyAt(url, { productId: product }, { userId: "walk-in" })).status, 201);
    }
    assert.equal(await prisma().order.count({ where: { productId: product, runId: null } }), lab.nodes.length);
    await broken.stop();
  });

  it("lets a node that restarts in mid-run serve the run on, and calls the run inconclusive instead of unsafe", async () => {
    const product = await makeProduct(77);
    const target = { kind: "product", id: product };
    const opened = await openAt(lab.dashboard.url, { target, stock: 20, strategy: "sql-row-lock" });
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    const [first, second] = lab.nodes;
    assert.ok(first && second);
    const buy = async (url: string, userId: string) => {
      const key = randomUUID();
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const { status, headers } = await buyAt(url, { productId: product }, { userId, key });
        // A busy PostgreSQL may not answer in time. The same key gets the final answer.
        if (status !== 504) return [status, headers.get("x-lock-strategy")];
      }
      throw new Error(`${userId} got no final answer`);
    };
    assert.deepEqual(await buy(first.url, "before"), [201, "sql-row-lock"]);
    await first.kill();
    await first.start();
    const answers = await Promise.all([first, second].flatMap(({ url }) => [buy(url, "a"), buy(url, "b")]));
    assert.deepEqual(answers, Array(4).fill([201, "sql-row-lock"]), "expected the run's strategy, not the shop's");
    const { body } = await post<RunDocument>(`${lab.dashboard.url}/api/runs/${opened.body.id}/finish`, {
      client: clientReport(5, emptyPercentiles),
    });
    assert.equal(body.verdict, "inconclusive", body.sentences.join(" "));
    assert.match(body.sentences.join(" "), /open-a was killed during the run/);
    assert.deepEqual(body.stock, { initial: 20, final: 15, orders: 5 });
    assert.ok(
      Object.values(body.violations).every((violations) => violations === 0),
      JSON.stringify(body.violations),
    );
    assert.equal((await readRun(body.id))?.status, "finished");
  });
});

/** Never answers the first call of an opening run. */
class NeverReserving extends NodeClient {
  static wasCalled = false;

  override reserve(): Promise<number> {
    NeverReserving.wasCalled = true;
    return new Promise(() => {});
  }
}

/** One node fails the last call of an opening run. */
class NeverOpening extends NodeClient {
  override async open(runId: string): Promise<void> {
    if (this.address.name === "open-1") throw new Error("open-1: connection reset");
    await super.open(runId);
  }
}
