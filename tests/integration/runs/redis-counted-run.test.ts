import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { currentNode } from "../../../lib/http/current-node";
import { Coordinator } from "../../../lib/runs/coordinator";
import { type ClientReport, type RunDocument, runRequestSchema } from "../../../lib/runs/document";
import { NodeClient } from "../../../lib/runs/node-client";
import { emptyPercentiles } from "../../../lib/runs/percentiles";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { closeLockClients } from "../../../lib/stock/lock-dependencies";
import { counterKeys } from "../../../lib/stock/redis-counter";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL", "REDIS_URL");
setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded" });

const client: ClientReport = {
  engine: "test",
  iterations: 12,
  droppedIterations: 0,
  failedRequests: 0,
  arrivalSkewMs: 1,
  latencyMs: emptyPercentiles,
};

for (const strategy of ["redis-decrement", "redis-watch"]) {
  describe(`a run under ${strategy}`, () => {
    let server: Awaited<ReturnType<typeof startHotServer>>;
    let lab: Coordinator;
    let redis: Redis;

    before(async () => {
      server = await startHotServer();
      redis = new Redis(process.env.REDIS_URL ?? "");
      lab = new Coordinator({
        nodes: [new NodeClient({ name: "node-1", url: server.url }, undefined)],
        expectedOf: () => "safe",
        versions: async () => ({ lab: "test" }),
      });
      await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
    });
    after(async () => {
      await lab.stop();
      await server.close();
      redis.disconnect();
    });

    const open = () => lab.open(runRequestSchema.parse({ strategy, stock: 5, vus: 12 }));
    const sellOut = ({ id, target }: RunDocument) =>
      Promise.all(
        Array.from({ length: 12 }, (_, buyer) =>
          fetch(`${server.url}/api/products/${target.id}/reduce-stock`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-run-id": id, "x-run-key": lab.runKey(id) ?? "" },
            body: JSON.stringify({ userId: `buyer-${buyer}` }),
          }),
        ),
      );

    it("has its stock counted in Redis before the first purchase, and ends safe", async () => {
      const opened = await open();
      assert.equal(await redis.get(counterKeys(opened.target).counter), "5");
      const statuses = (await sellOut(opened)).map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 201).length, 5);
      assert.equal(statuses.filter((status) => status === 409).length, 7);
      const document = await lab.finish(opened.id, { client, awaitClientReport: false });
      assert.equal(document.verdict, "safe", document.sentences.join(" "));
      assert.deepEqual(document.stock, { initial: 5, final: 0, orders: 5, counter: 0 });
    });

    it("is unsafe when units left the counter and never became an order", async () => {
      const opened = await open();
      await redis.decrby(counterKeys(opened.target).counter, 2);
      await sellOut(opened);
      const document = await lab.finish(opened.id, { client, awaitClientReport: false });
      assert.deepEqual(document.stock, { initial: 5, final: 2, orders: 3, counter: 0 });
      assert.equal(document.violations.undersold, 2);
      assert.equal(document.verdict, "unsafe");
    });

    it("is inconclusive when its counter cannot be read", async () => {
      const opened = await open();
      await sellOut(opened);
      await redis.del(counterKeys(opened.target).journal);
      await redis.set(counterKeys(opened.target).journal, "no hash");
      const document = await lab.finish(opened.id, { client, awaitClientReport: false });
      assert.equal(document.verdict, "inconclusive");
      assert.match(document.sentences.join(" "), /counter could not be read.*WRONGTYPE/);
    });
  });
}

after(async () => {
  await currentNode()[Symbol.asyncDispose]();
  await closeLockClients();
  await postgresPool().end();
});
