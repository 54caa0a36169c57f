import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { currentNode } from "../../../lib/node/current-node";
import { emptyPercentiles } from "../../../lib/node/figures";
import { Coordinator } from "../../../lib/runs/coordinator";
import type { RunDocument } from "../../../lib/runs/document";
import { NodeClient } from "../../../lib/runs/node-client";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { expireDueOrders } from "../../../lib/shop/expiry";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct, productFacts } from "../../support/rows";
import { clientReport } from "../../support/run-lab";
import { buyAt } from "../../support/shop-node";
import { post, type StoreLab, startStoreLab } from "../../support/store-lab";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded", BUYER_RATE_PER_SECOND: "0" });

const BUYERS = 20;
const SHOPPERS_PER_NODE = 3;
const STOCK = 12;
const HOUR_MS = 3_600_000;
/** The shop's purchases are in flight long enough to overlap the opening of the run. */
const SHOP_HOLD_MS = "40";

after(() => postgresPool().end());

describe("a run of a product that people are buying in the shop", () => {
  let lab: StoreLab;

  before(async () => {
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
    lab = await startStoreLab(["shop-a", "shop-b"], { HOLD_MS: SHOP_HOLD_MS });
  });
  after(() => lab[Symbol.asyncDispose]());

  /** Buys again and again at every node until `stop` is called. @returns the number of purchases that the shop sold */
  function sendShoppers(productId: number) {
    let isOver = false;
    const shopper = async (url: string, userId: string) => {
      while (!isOver) await buyAt(url, { productId }, { userId });
    };
    const shoppers = lab.nodes.flatMap(({ url }, node) =>
      Array.from({ length: SHOPPERS_PER_NODE }, (_, index) => shopper(url, `shopper-${node}-${index}`)),
    );
    return async () => {
      isOver = true;
      await Promise.all(shoppers);
    };
  }

  for (const strategy of ["sql-guarded", "sql-row-lock", "redis-lock", "redis-decrement"]) {
    it(`shows no violation under ${strategy}, because the stock is set when no purchase is in flight`, async () => {
      for (const { url } of lab.nodes) await fetch(`${url}/api/node/strategy`, switchTo(strategy));
      const productId = await makeProduct(100_000);
      const stop = sendShoppers(productId);
      const target = { kind: "product", id: productId };
      const open = { strategy, stock: STOCK, vus: BUYERS, holdMs: 2, target };
      const opened = await post<RunDocument>(`${lab.dashboard.url}/api/runs`, open);
      assert.equal(opened.status, 201, JSON.stringify(opened.body));
      const { id } = opened.body;
      const key = { "x-run-id": id, "x-run-key": opened.headers.get("x-run-key") ?? "" };
      const buy = (buyer: number) => {
        const { url } = lab.nodes[buyer % lab.nodes.length] ?? lab.dashboard;
        return post(`${url}/api/products/${productId}/reduce-stock`, { userId: `buyer-${buyer}` }, key);
      };
      await Promise.all(Array.from({ length: BUYERS }, (_, buyer) => buy(buyer)));
      const finish = `${lab.dashboard.url}/api/runs/${id}/finish`;
      const { body } = await post<RunDocument>(finish, { client: clientReport(BUYERS, emptyPercentiles) });
      await stop();
      assert.ok(
        Object.values(body.violations).every((count) => count === 0),
        JSON.stringify(body.violations),
      );
      assert.notEqual(body.verdict, "unsafe", body.sentences.join(" "));
      assert.deepEqual(body.stock, { ...body.stock, initial: STOCK, final: 0, orders: STOCK });
      const shopOrders = await prisma().order.count({ where: { productId, runId: null } });
      assert.ok(shopOrders > 0, "expected the shop to sell before the run, so that purchases were in flight");
    });
  }
});

function switchTo(id: string): RequestInit {
  return { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) };
}

/** Expires due orders after the load and before the stock is counted. */
class ExpiringNode extends NodeClient {
  postponed = 0;

  override async history(runId: string): Promise<string> {
    const round = await expireDueOrders(currentNode(), { now: new Date(Date.now() + HOUR_MS) });
    this.postponed += round.postponed;
    return super.history(runId);
  }
}

describe("an order of the shop that expires between the load and the verdict", () => {
  let server: Awaited<ReturnType<typeof startHotServer>>;
  before(async () => {
    server = await startHotServer();
  });
  after(() => server.close());

  it("returns its units after the verdict, so that the run is not called unsafe", async () => {
    const node = new ExpiringNode({ name: "node-1", url: server.url }, undefined);
    const lab = new Coordinator({ nodes: [node], expectedOf: () => "safe", versions: async () => ({ lab: "test" }) });
    const productId = await makeProduct(10);
    const earlier = await buyAt(server.url, { productId }, { userId: "earlier", quantity: 3 });
    assert.equal(earlier.status, 201);
    const request = { strategy: "sql-guarded", stock: 8, vus: 4, target: { kind: "product", id: productId } };
    const opened = await lab.open(runRequestSchema.parse(request));
    await Promise.all(
      Array.from({ length: 4 }, (_, buyer) => buyAt(server.url, { productId }, { userId: `${buyer}` })),
    );
    const document = await lab.finish(opened.id, { client: clientReport(4), awaitClientReport: false });
    assert.equal(node.postponed, 1, "expected the order to be due while the stock was counted");
    assert.deepEqual([document.stock.final, document.verdict], [4, "safe"], document.sentences.join(" "));

    const { expired } = await expireDueOrders(currentNode(), { now: new Date(Date.now() + HOUR_MS) });
    assert.equal(expired, 1);
    assert.equal((await productFacts(productId)).stock, 4 + 3);
    await lab.stop();
  });
});
