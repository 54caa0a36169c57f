import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { InitialEvidence } from "../../../app/_lib/initial-evidence";
import type { Interleaving } from "../../../lib/history/interleaving";
import type { Timeline } from "../../../lib/history/timeline";
import type { ExplainedFinding, NamedFinding } from "../../../lib/runs/evidence";
import { INTRUDER, storeRun } from "../../../lib/runs/testing/stored-run";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "dashboard", LOCK_STRATEGY: "sql-guarded" });

const OPERATIONS = 600;
type Handler = (request: Request, context: { params: Promise<{ id: string; name: string }> }) => Promise<Response>;

async function handlerOf(path: string): Promise<Handler> {
  const route = (await import(`../../../app/api/runs/[id]/${path}/route`)) as { GET: Handler };
  return route.GET;
}

describe("a run's evidence over HTTP", () => {
  let id = "";
  const ask = async (path: string, { name = "", query = "", run = id } = {}) => {
    const params = Promise.resolve({ id: run, name });
    const response = await (await handlerOf(path))(new Request(`http://lab/?${query}`), { params });
    return { status: response.status, body: await response.json() };
  };

  before(async () => {
    id = await storeRun(process.env.DATABASE_URL ?? "", OPERATIONS);
  });
  after(async () => {
    await prisma().run.delete({ where: { id } });
    await postgresPool().end();
  });

  it("names the findings, the most telling first, each with its moment", async () => {
    const { status, body } = await ask("findings");
    const { verdict, operations, findings } = body as {
      verdict: string;
      operations: number;
      findings: NamedFinding[];
    };
    assert.deepEqual([status, verdict, operations], [200, "unsafe", OPERATIONS]);
    assert.deepEqual(
      findings.map(({ name }) => name),
      ["lostUpdates-1", "overlappingHolds-1", "oversold-1"],
    );
    // The first purchase was asked for 5 ms before it went in; the intruder wrote 45 us after it had.
    assert.equal(findings[0]?.atUs, 5_000 + INTRUDER * 60 - 50 + 45);
  });

  it("tells a finding's steps, and where its purchases stand in the timeline", async () => {
    const { body } = await ask("findings/[name]", { name: "lostUpdates-1" });
    const { interleaving, spans } = body as ExplainedFinding & { interleaving: Interleaving };
    const nodeOf = new Map(interleaving.actors.map(({ opId, node }) => [opId, node]));
    const values = interleaving.steps.filter(({ field }) => field === "readNs" || field === "writeNs");
    assert.deepEqual(
      values.map(({ opId, text, isMarked }) => `${nodeOf.get(opId)} ${text}${isMarked ? " !" : ""}`),
      [
        "node-1 read stock = 101",
        "node-2 read stock = 101 !",
        "node-1 write stock = 100",
        "node-2 write stock = 100 !",
      ],
    );
    const { body: timeline } = (await ask("timeline")) as { body: Timeline };
    assert.deepEqual(timeline.lanes, ["node-1", "node-2", "node-3"]);
    assert.equal(timeline.spans.fromUs.length, OPERATIONS);
    assert.deepEqual(
      spans.map((index) => timeline.spans.lane[index]),
      [0, 1],
    );
    assert.ok(spans.every((index) => timeline.spans.marks[index]));
    assert.equal(timeline.spans.marks.filter((mark) => mark > 0).length, 2);
  });

  it("leaves out of the timeline what lies outside of the range asked for", async () => {
    const { body } = (await ask("timeline", { query: "fromUs=5000&toUs=5299" })) as { body: Timeline };
    assert.deepEqual(body.spans.fromUs, [5_000, 5_060, 5_120, 5_180, 5_240]);
    assert.deepEqual(
      [(await ask("timeline", { query: "fromUs=-1" })).status, (await ask("timeline", { query: "from=1" })).status],
      [400, 400],
    );
  });

  it("opens with the first violation in view, for a page that has nothing yet", async () => {
    const { body } = (await ask("evidence")) as { body: InitialEvidence };
    const { body: explained } = (await ask("findings/[name]", { name: "lostUpdates-1" })) as { body: ExplainedFinding };
    const { body: timeline } = (await ask("timeline")) as { body: Timeline };
    assert.deepEqual(body.first, explained);
    assert.deepEqual([body.lanes, body.endUs], [timeline.lanes, timeline.endUs]);
    for (const index of explained.spans) {
      const fromUs = timeline.spans.fromUs[index] ?? Number.NaN;
      assert.ok(body.firstRange.fromUs < fromUs && fromUs < body.firstRange.toUs, `${fromUs} in view`);
    }
  });

  it("says that there is no such finding, no such run, and that a run is still going on", async () => {
    assert.equal((await ask("findings/[name]", { name: "lostUpdates-2" })).status, 404);
    assert.equal((await ask("findings", { run: "nobody" })).status, 404);
    await prisma()
      .$executeRaw`UPDATE runs SET document = jsonb_set(document, '{status}', '"running"') WHERE id = ${id}`;
    for (const path of ["findings", "timeline", "evidence"]) assert.equal((await ask(path)).status, 409);
    assert.equal((await ask("findings/[name]", { name: "lostUpdates-1" })).status, 409);
  });
});
