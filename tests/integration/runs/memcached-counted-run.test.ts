import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RunDocument } from "../../../lib/runs/document";
import { runRequestSchema } from "../../../lib/runs/run-request";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type OwnMemcached, startOwnMemcached } from "../../support/own-memcached";
import { clientReport, setUpRunLab } from "../../support/run-lab";

requireEnv("DATABASE_URL");

const client = clientReport(12);

describe("a run under memcached-cas", () => {
  let memcached: OwnMemcached;
  before(async () => {
    memcached = await startOwnMemcached();
    setEnv({ STORE_NODE: "node-1", LOCK_STRATEGY: "sql-guarded", MEMCACHED_URL: memcached.url });
  });
  const here = setUpRunLab();
  after(() => memcached[Symbol.asyncDispose]());

  const open = () => here.lab.open(runRequestSchema.parse({ strategy: "memcached-cas", stock: 5, vus: 12 }));
  const finish = ({ id }: RunDocument) => here.lab.finish(id, { client, awaitClientReport: false });
  const buy = (run: RunDocument, buyers: readonly number[]) =>
    Promise.all(buyers.map((buyer) => here.buyIn(run, `buyer-${buyer}`)));
  const buyers = Array.from({ length: 12 }, (_, index) => index);

  it("counts its stock in Memcached from the first purchase, and is safe", async () => {
    const opened = await open();
    const statuses = (await buy(opened, buyers)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 5);
    assert.equal(statuses.filter((status) => status === 409).length, 7);
    const document = await finish(opened);
    assert.equal(document.verdict, "safe", document.sentences.join(" "));
    assert.deepEqual(document.stock, { initial: 5, final: 0, orders: 5, counter: 0 });
  });

  it("sells no unit after its counter vanished, and is inconclusive", async () => {
    const opened = await open();
    await buy(opened, [0, 1]);
    await memcached.send("flush_all");
    const answers = await buy(opened, [2, 3]);
    for (const answer of answers) {
      assert.equal(answer.status, 503);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      assert.equal(error.code, "backend_unavailable");
      assert.match(error.message, /the counter has vanished from Memcached/);
    }
    const document = await finish(opened);
    assert.equal(document.verdict, "inconclusive");
    assert.match(document.sentences.join(" "), /has vanished/);
    assert.deepEqual(document.stock, { initial: 5, final: 3, orders: 2, counter: null });
  });
});
