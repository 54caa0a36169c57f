import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HistoryRunLine } from "../../../lib/history/types";
import { currentNode } from "../../../lib/node/current-node";
import { historyLines } from "../../../lib/runs/history-export";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { prisma } from "../../../lib/services/postgres";
import { cancelOrder } from "../../../lib/shop/pay-order";
import { isShopError } from "../../../lib/shop/shop-error";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct } from "../../support/rows";
import { setUpRunLab } from "../../support/run-lab";
import { buyAt } from "../../support/shop-node";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded", BUYER_RATE_PER_SECOND: "0" });

const BUYERS = 8;

describe("run of a product with a limit per buyer", () => {
  const here = setUpRunLab();

  for (const strategy of ["sql-guarded", "redis-decrement"]) {
    it(`enforces the limit in each of two runs, and records it in the history, with ${strategy}`, async () => {
      const id = await makeProduct(1, { limitPerUser: 1, stockOn: "payment" });
      for (const round of [1, 2]) {
        const request = { strategy, stock: 20, vus: BUYERS, holdMs: 2, target: { kind: "product", id } };
        const opened = await here.lab.open(runRequestSchema.parse(request));
        const clicks = Array.from({ length: 2 * BUYERS }, (_, index) => `buyer-${index % BUYERS}`);
        const answers = await Promise.all(clicks.map((userId) => buyAt(here.url, { productId: id }, { userId })));
        assert.equal(answers.filter(({ status }) => status === 201).length, BUYERS, `round ${round}`);
        assert.ok(answers.every(({ status, body }) => status === 201 || body.error?.code === "limit_reached"));
        const orderId = answers.find(({ status }) => status === 201)?.body.order?.id ?? "";
        const cancel = cancelOrder(currentNode(), { orderId, buyerId: await buyerOf(orderId) });
        await assert.rejects(cancel, (error) => isShopError(error) && error.options.code === "sale_running");
        const done = await here.lab.finish(opened.id, { awaitClientReport: false });
        const { counts, stock, violations } = done;
        assert.deepEqual([counts.sold, counts.rejected, stock.final], [BUYERS, BUYERS, 20 - BUYERS]);
        assert.ok(
          Object.values(violations).every((count) => count === 0),
          JSON.stringify(violations),
        );
        const head = (await historyLines(done).next()).value ?? "";
        assert.equal((JSON.parse(head) as HistoryRunLine).limitPerBuyer, 1);
      }
    });
  }

  async function buyerOf(orderId: string): Promise<string> {
    return (await prisma().order.findUniqueOrThrow({ where: { id: BigInt(orderId) } })).userId;
  }
});
