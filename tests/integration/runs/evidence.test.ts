import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { InitialEvidence } from "../../../app/_lib/initial-evidence";
import type { Interleaving } from "../../../lib/history/merge-steps";
import type { Timeline } from "../../../lib/history/timeline";
import type { ExplainedFinding, NamedFinding } from "../../../lib/runs/evidence";
import { INTRUDER, storeRun } from "../../../lib/runs/testing/stored-run";
import { postgresPool, prisma } from "../../../lib/services/postgres";
import { requireEnv, setEnv } from "../../support/lab-env";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "dashboard", LOCK_STRATEGY: "sql-guarded" });

const OPERATIONS = 600;

/** The handlers by their path below the run. Loaded on demand, because they read the environment that is set above. */
const HANDLERS = {
  evidence: () => import("../../../app/api/runs/[id]/evidence/route"),
  findings: () => import("../../../app/api/runs/[id]/findings/route"),
  "findings/[name]": () => import("../../../app/api/runs/[id]/findings/[name]/route"),
  timeline: () => import("../../../app/api/runs/[id]/timeline/route"),
} as const;
type Path = keyof typeof HANDLERS;

describe("a run's evidence over HTTP", () => {
  let id = "";
  const request = async (path: Path, { name = "", query = "", run = id } = {}) => {
    const url = `http://127.0.0.1/api/runs/${run}/${path.replace("[name]", name)}?${query}`;
    const { GET } = await HANDLERS[path]();
    const response = await GET(new Request(url));
    return { status: response.status, body: await response.json() };
  };

  before(async () => {
    id = await storeRun(process.env.DATABASE_URL ?? "", OPERATIONS);
  });
  after(async () => {
    await prisma().run.delete({ where: { id } });
    await postgresPool().end();
  });

  it("lists named findings, causes before sums, each with its time", async () => {
    const { status, body } = await request("findings");
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
    // The first purchase waited 5 ms for its grant; the intruder committed 45 us after its grant.
    assert.equal(findings[0]?.atUs, 5_000 + INTRUDER * 60 - 50 + 45);
  });

  it("returns the steps of a finding, and the indexes of its purchases in the timeline", async () => {
    const { body } = await request("findings/[name]", { name: "lostUpdates-1" });
    const { interleaving, spans } = body as ExplainedFinding & { interleaving: Interleaving };
    const nodeOf = new Map(interleaving.actors.map(({ opId, node }) => [opId, node]));
    const values = interleaving.steps.filter(({ field }) => field === "readNs" || field === "writeNs");
    assert.deepEqual(
      values.map(({ opId, text, isMarked }) => `${nodeOf.get(opId ?? "")} ${text}${isMarked ? " !" : ""}`),
      [
        "node-1 read stock = 101",
        "node-2 read stock = 101 !",
        "node-1 write stock = 100",
        "node-2 write stock = 100 !",
      ],
    );
    const { body: timeline } = (await request("timeline")) as { body: Timeline };
    assert.deepEqual(timeline.lanes, ["node-1", "node-2", "node-3"]);
    assert.equal(timeline.spans.fromUs.length, OPERATIONS);
    assert.deepEqual(
      spans.map((index) => timeline.spans.lane[index]),
      [0, 1],
    );
    assert.ok(spans.every((index) => timeline.spans.marks[index]));
    assert.equal(timeline.spans.marks.filter((mark) => mark > 0).length, 2);
  });

  it("returns only the requested range of the timeline", async () => {
    const { body } = (await request("timeline", { query: "fromUs=5000&toUs=5299" })) as { body: Timeline };
    assert.deepEqual(body.spans.fromUs, [5_000, 5_060, 5_120, 5_180, 5_240]);
    assert.deepEqual(
      [
        (await request("timeline", { query: "fromUs=-1" })).status,
        (await request("timeline", { query: "from=1" })).status,
      ],
      [400, 400],
    );
  });

  it("returns the first violation and a range that shows it, for the first view of a page", async () => {
    const { body } = (await request("evidence")) as { body: InitialEvidence };
    const { body: explained } = (await request("findings/[name]", { name: "lostUpdates-1" })) as {
      body: ExplainedFinding;
    };
    const { body: timeline } = (await request("timeline")) as { body: Timeline };
    assert.deepEqual(body.first, explained);
    assert.deepEqual([body.lanes, body.endUs], [timeline.lanes, timeline.endUs]);
    for (const index of explained.spans) {
      const fromUs = timeline.spans.fromUs[index] ?? Number.NaN;
      assert.ok(
        body.firstRange.fromUs < fromUs && fromUs < body.firstRange.toUs,
        `expected ${fromUs} us in the first range`,
      );
    }
  });

  it("answers 404 for a finding or a run that does not exist, and 409 for a running run", async () => {
    assert.equal((await request("findings/[name]", { name: "lostUpdates-2" })).status, 404);
    assert.equal((await request("findings", { run: "missing" })).status, 404);
    await prisma()
      .$executeRaw`UPDATE runs SET document = jsonb_set(document, '{status}', '"running"') WHERE id = ${id}`;
    for (const path of ["findings", "timeline", "evidence"] as const) assert.equal((await request(path)).status, 409);
    assert.equal((await request("findings/[name]", { name: "lostUpdates-1" })).status, 409);
  });
});
