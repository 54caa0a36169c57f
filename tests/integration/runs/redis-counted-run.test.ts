import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { currentNode } from "../../../lib/node/current-node";
import type { RunDocument } from "../../../lib/runs/document";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { reconcileCounters } from "../../../lib/shop/counters";
import { counterKeys } from "../../../lib/stock/redis-counter";
import { requireEnv, setEnv } from "../../support/lab-env";
import { makeProduct } from "../../support/rows";
import { clientReport, setUpRunLab } from "../../support/run-lab";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded" });

const client = clientReport(12);

describe("a run whose stock is counted in Redis", () => {
  const here = setUpRunLab();

  for (const strategy of ["redis-decrement", "redis-watch"]) {
    describe(`a run under ${strategy}`, () => {
      let redis: Redis;
      before(() => {
        redis = new Redis(process.env.REDIS_URL ?? "");
      });
      after(() => redis.disconnect());

      const open = () => here.lab.open(runRequestSchema.parse({ strategy, stock: 5, vus: 12 }));
      const sellOut = (run: RunDocument) =>
        Promise.all(Array.from({ length: 12 }, (_, buyer) => here.buyIn(run, `buyer-${buyer}`)));

      it("counts its stock in Redis from the first purchase, and is safe", async () => {
        const opened = await open();
        assert.equal(await redis.get(counterKeys(opened.target).counter), "5");
        const statuses = (await sellOut(opened)).map(({ status }) => status);
        assert.equal(statuses.filter((status) => status === 201).length, 5);
        assert.equal(statuses.filter((status) => status === 409).length, 7);
        const document = await here.lab.finish(opened.id, { client, awaitClientReport: false });
        assert.equal(document.verdict, "safe", document.sentences.join(" "));
        assert.deepEqual(document.stock, { initial: 5, final: 0, orders: 5, counter: 0 });
      });

      it("is unsafe if its counter ends below the row", async () => {
        const opened = await open();
        await redis.decrby(counterKeys(opened.target).counter, 2);
        await sellOut(opened);
        const document = await here.lab.finish(opened.id, { client, awaitClientReport: false });
        assert.deepEqual(document.stock, { initial: 5, final: 2, orders: 3, counter: 0 });
        assert.equal(document.violations.counterDrift, 2);
        assert.equal(document.verdict, "unsafe");
      });

      it("leaves no counter that says sold out while the row has units", async () => {
        const opened = await open();
        await sellOut(opened);
        await here.lab.finish(opened.id, { client, awaitClientReport: false });
        const { counter, buyers } = counterKeys(opened.target);
        assert.equal(await redis.exists(counter, buyers), 0);
      });

      it("has a counter without a journal corrected by the reconciliation", async () => {
        const productId = await makeProduct(38);
        const { counter } = counterKeys({ kind: "product", id: productId });
        await redis.set(counter, 0, "EX", 3_600);
        await reconcileCounters(currentNode());
        assert.equal(await redis.get(counter), "38");
      });

      it("is inconclusive if its counter cannot be read", async () => {
        const opened = await open();
        await sellOut(opened);
        await redis.del(counterKeys(opened.target).journal);
        await redis.set(counterKeys(opened.target).journal, "no hash");
        const document = await here.lab.finish(opened.id, { client, awaitClientReport: false });
        assert.equal(document.verdict, "inconclusive");
        assert.match(document.sentences.join(" "), /counter was not compared with the row: .*WRONGTYPE/);
      });
    });
  }
});
