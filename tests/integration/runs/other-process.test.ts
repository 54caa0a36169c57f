import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { RunDocument } from "../../../lib/runs/document";
import { prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
import { buyAt } from "../../support/shop-node";
import { post, type StoreLab, startStoreLab } from "../../support/store-lab";
import { waitUntil } from "../../support/wait-until";
import { lab as command, outputOf } from "../lab/lab-command";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "other-test", LOCK_STRATEGY: "sql-guarded" });

describe("a run that another process ends", () => {
  let lab: StoreLab;

  before(async () => {
    // The run of a killed test would block every other run.
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
    lab = await startStoreLab(["other-a", "other-b"]);
  });
  after(async () => {
    await lab[Symbol.asyncDispose]();
    await prisma().$disconnect();
  });

  const read = async (id: string) => (await (await fetch(`${lab.dashboard.url}/api/runs/${id}`)).json()) as RunDocument;
  const samplesOf = async (id: string) =>
    (await (await fetch(`${lab.dashboard.url}/api/runs/${id}/samples`)).json()) as { samples: { orders: number }[] };

  it("ends its load where it was launched, if `lab stop` reaches another process", async () => {
    const load = { rate: 20, durationMs: 60_000, stock: 100_000, engine: "builtin", launch: true };
    const opened = await post<RunDocument>(`${lab.nodes[0]?.url}/api/runs`, { strategy: "sql-guarded", ...load });
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    const { id } = opened.body;
    const generatorLog = join(".lab", "logs", `run-${id}.log`);
    const hasSold = async () => (await samplesOf(id)).samples.some(({ orders }) => orders > 0);
    await waitUntil(hasSold, { what: "the first order", withinMs: 60_000 });
    const stop = await command(["stop", "--url", lab.dashboard.url]);
    assert.equal(stop.code, 0, outputOf(stop));
    assert.ok(stop.stdout.startsWith(`Run ${id} is stopped: inconclusive`), stop.stdout);
    assert.equal((await read(id)).status, "stopped");
    const hasEnded = async () => /stopped before it was complete/.test(await readFile(generatorLog, "utf8"));
    await waitUntil(hasEnded, { what: "the load generator to end", withinMs: 10_000 });
    await rm(generatorLog);
    const again = await command(["stop", id, "--url", lab.dashboard.url]);
    assert.deepEqual([again.code, again.stdout], [0, `Run ${id} had already ended: stopped, inconclusive.\n`]);
    const none = await command(["stop", "--url", lab.dashboard.url]);
    assert.deepEqual([none.code, none.stdout], [0, "No run is in progress.\n"]);
    const unknown = await command(["stop", "no-run", "--url", lab.dashboard.url]);
    assert.deepEqual([unknown.code, unknown.stderr], [2, "There is no run no-run.\n"]);
  });

  it("fails within seconds if its opener was killed and stays dead, and then the lab says which node is missing", async () => {
    const [first, second] = lab.nodes;
    assert.ok(first && second);
    const openAt = (url: string) => post<RunDocument>(`${url}/api/runs`, { strategy: "sql-guarded", stock: 5 });
    const opened = await openAt(second.url);
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    const { id, target } = opened.body;
    assert.equal((await buyAt(first.url, { productId: target.id }, { userId: "before" })).status, 201);
    await second.kill();
    const hasEnded = async () => (await read(id)).status !== "running";
    await waitUntil(hasEnded, { what: "the dashboard to end the run", withinMs: 20_000 });
    const document = await read(id);
    assert.equal(document.status, "failed");
    assert.equal(document.sentences[0], "other-b opened the run and no longer runs.");
    assert.deepEqual(document.stock, { initial: 5, final: 4, orders: 1 });
    const without = await openAt(lab.dashboard.url);
    assert.deepEqual([without.status, without.body.error?.code], [503, "node_unavailable"]);
    assert.match(without.body.error?.message ?? "", /Not every node could accept the run: other-b: did not answer/);
    await second.start();
  });

  it("is ended by the next process that opens a run, if its opener was killed and stays dead", async () => {
    const [first, second] = lab.nodes;
    assert.ok(first && second);
    const openAt = (url: string) => post<RunDocument>(`${url}/api/runs`, { strategy: "sql-guarded", stock: 5 });
    const opened = await openAt(second.url);
    assert.equal(opened.status, 201, JSON.stringify(opened.body));
    await second.kill();
    const next = await openAt(first.url);
    assert.equal(next.body.error?.code, "node_unavailable", "expected the dead node to block, and not its run");
    assert.equal((await read(opened.body.id)).status, "failed");
    await second.start();
    const last = await openAt(first.url);
    assert.equal(last.status, 201, JSON.stringify(last.body));
    await post(`${first.url}/api/runs/${last.body.id}/stop`, {});
  });
});
