import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { currentNode } from "../../../lib/http/current-node";
import { Coordinator } from "../../../lib/runs/coordinator";
import { type ClientReport, type RunDocument, runRequestSchema } from "../../../lib/runs/document";
import { NodeClient } from "../../../lib/runs/node-client";
import { emptyPercentiles } from "../../../lib/runs/percentiles";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { closeLockClients } from "../../../lib/stock/lock-dependencies";
import { startHotServer } from "../../support/hot-server";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnMemcached, startOwnMemcached } from "../../support/own-memcached";

requireEnv("DATABASE_URL");

const client: ClientReport = {
  engine: "test",
  iterations: 12,
  droppedIterations: 0,
  failedRequests: 0,
  arrivalSkewMs: 1,
  latencyMs: emptyPercentiles,
};

describe("a run under memcached-cas", () => {
  let memcached: OwnMemcached;
  let server: Awaited<ReturnType<typeof startHotServer>>;
  let lab: Coordinator;

  before(async () => {
    memcached = await startOwnMemcached();
    setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded", MEMCACHED_URL: memcached.url });
    server = await startHotServer();
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
    await currentNode()[Symbol.asyncDispose]();
    await closeLockClients();
    await postgresPool().end();
    await memcached[Symbol.asyncDispose]();
  });

  const open = () => lab.open(runRequestSchema.parse({ strategy: "memcached-cas", stock: 5, vus: 12 }));
  const finish = ({ id }: RunDocument) => lab.finish(id, { client, awaitClientReport: false });
  const buy = ({ id, target }: RunDocument, buyers: readonly number[]) =>
    Promise.all(
      buyers.map((buyer) =>
        fetch(`${server.url}/api/products/${target.id}/reduce-stock`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-run-id": id, "x-run-key": lab.runKey(id) ?? "" },
          body: JSON.stringify({ userId: `buyer-${buyer}` }),
        }),
      ),
    );
  const buyers = Array.from({ length: 12 }, (_, index) => index);

  it("has its stock counted in Memcached before the first purchase, and ends safe", async () => {
    const opened = await open();
    const statuses = (await buy(opened, buyers)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 5);
    assert.equal(statuses.filter((status) => status === 409).length, 7);
    const document = await finish(opened);
    assert.equal(document.verdict, "safe", document.sentences.join(" "));
    assert.deepEqual(document.stock, { initial: 5, final: 0, orders: 5, counter: 0 });
  });

  it("says so when the stock itself vanishes, and sells none of what is left", async () => {
    const opened = await open();
    await buy(opened, [0, 1]);
    await memcached.send("flush_all");
    const answers = await buy(opened, [2, 3]);
    for (const answer of answers) {
      assert.equal(answer.status, 503);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.equal(error.code, "backend_unavailable");
      assert.match(error.message, /the stock itself has vanished from Memcached/);
    }
    const document = await finish(opened);
    assert.equal(document.verdict, "inconclusive");
    assert.match(document.sentences.join(" "), /has vanished/);
    assert.deepEqual(document.stock, { initial: 5, final: 3, orders: 2, counter: null });
  });
});
