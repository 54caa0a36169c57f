import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { RunDocument } from "../../../lib/runs/document";
import { prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";
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
});
