import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type CellResult, faultMatrixSchema } from "../../lib/runs/fault-matrix";
import { openMatrix, withResult, writeMatrix } from "./matrix-file";
import { matrixHtml } from "./matrix-html";
import { matrixMarkdown } from "./matrix-markdown";
import { commandOf, matrixReport } from "./matrix-report";

const VERSION = { commit: "abc", sources: "123" };

function result(change: Partial<CellResult> = {}): CellResult {
  return {
    strategy: "redis-lock",
    fault: "pause-holder",
    repeat: 1,
    measured: "unsafe",
    runId: "r1",
    violations: { overlappingHolds: 2 },
    refusedStaleWrites: 0,
    blockedMs: null,
    nextGrantMs: 1_040,
    lossSignalMs: null,
    unserved: 0,
    unsold: 0,
    evidence: "node-1 was stopped | for 2.5 s.",
    elapsedMs: 4_000,
    ...change,
  };
}

describe("the file of the fault matrix", () => {
  const folder = mkdtempSync(join(tmpdir(), "fault-matrix-"));
  const file = join(folder, "fault-matrix.json");
  after(() => rmSync(folder, { recursive: true }));
  const empty = () => openMatrix(join(folder, "none.json"), VERSION).matrix;

  it("gives an interrupted matrix back with every measured run", () => {
    const control = result({ fault: null, measured: "safe", violations: {} });
    const matrix = [control, result(), result({ repeat: 2 })].reduce(withResult, empty());
    writeMatrix(file, matrix);
    assert.deepEqual(openMatrix(file, VERSION), { matrix, discarded: null });
    assert.equal(
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line.includes('"strategy"')).length,
      3,
    );
  });

  it("keeps one result per run: a later one replaces an earlier one", () => {
    const matrix = withResult(withResult(empty(), result()), result({ runId: "r2" }));
    assert.deepEqual(
      matrix.results.map(({ runId }) => runId),
      ["r2"],
    );
  });

  it("starts again, and says why, if other code was measured or the file is damaged", () => {
    writeMatrix(file, withResult(empty(), result()));
    const opened = (version: typeof VERSION) => {
      const { matrix, discarded } = openMatrix(file, version);
      return [matrix.results.length, matrix.version, discarded];
    };
    assert.deepEqual(opened({ ...VERSION, commit: "def" }), [
      0,
      { ...VERSION, commit: "def" },
      "its 1 results measured other code (commit abc instead of def)",
    ]);
    assert.match(String(opened({ ...VERSION, sources: "456" })[2]), /\(the source files changed\)$/);
    writeFileSync(file, '{"version":');
    assert.match(String(opened(VERSION)[2]), /is not a fault matrix$/);
  });

  it("keeps the results of other strategies than those measured again, with the commit that they measured", () => {
    const later = { commit: "def", sources: "456" };
    writeMatrix(
      file,
      withResult(withResult(empty(), result()), result({ strategy: "redis-fenced", measured: "safe" })),
    );
    const { matrix, discarded } = openMatrix(file, later, ["redis-lock"]);
    assert.deepEqual([matrix.version, discarded], [later, null]);
    assert.deepEqual(
      matrix.results.map(({ strategy, commit }) => [strategy, commit]),
      [["redis-fenced", VERSION.commit]],
    );
    writeMatrix(file, matrix);
    const again = openMatrix(file, { commit: "ghi", sources: "789" }, ["redis-lock"]).matrix;
    assert.equal(again.results[0]?.commit, VERSION.commit, "expected the commit that was measured, not the last one");
  });
});

describe("the pages of the fault matrix", () => {
  const selection = {
    strategies: ["none", "redis-lock", "redis-fenced"],
    faults: ["pause-holder", "latency"],
  } as const;
  const report = (results: readonly CellResult[]) => {
    const machine = { cpus: 2, cpuModel: "CPU", memoryMb: 8_192, os: "Linux" };
    return matrixReport({ version: VERSION, startedAtEpochMs: 0, machine, results: [...results] }, selection);
  };
  const safe = result({ strategy: "redis-fenced", measured: "safe", violations: {}, refusedStaleWrites: 1 });

  it("show each cell with its result, its reason and the command that repeats it", () => {
    const page = matrixMarkdown(report([result(), result({ repeat: 2, violations: { overlappingHolds: 5 } }), safe]));
    assert.match(page, /^\| strategy \| \[control\]\(#control\) \| \[pause-holder\]\(#pause-holder\) \| \[latency\]/m);
    assert.match(page, /^\| `none` \| not measured \| – \| – \|$/m);
    assert.match(page, /^\| `redis-lock` \| not measured \| unsafe \| not measured \|$/m);
    assert.match(page, /^\| `redis-lock` \| unsafe \| unsafe 2 of 2: 2 to 5 overlapping holds \| The lock expires/m);
    assert.match(page, /^\| `redis-fenced` \| safe \| safe 1 of 1: 1 late write refused \|/m);
    assert.match(page, /^npm run lab -- run --strategy redis-lock .* --fault pause-holder@100$/m);
    assert.match(page, /^Every measured cell is as expected\.$/m);
    assert.match(page, /^- 2 cells and 0 controls, 2 repeats each/m);
  });

  it("have the command of every measured cell and control, and how long the measurement took", () => {
    const control = result({ fault: null, measured: "safe", violations: {}, evidence: null, elapsedMs: 90_000 });
    const page = report([control, result(), safe]);
    for (const text of [matrixMarkdown(page), matrixHtml(page)]) {
      assert.match(text, /measured in 2 min/);
      for (const cell of page.measured) assert.ok(text.includes(commandOf(cell)), `lacks ${commandOf(cell)}`);
    }
  });

  it("name the commit of results that were kept when other strategies were measured again", () => {
    const [kept, measured] = [result({ strategy: "redis-fenced", commit: "abc" }), result()];
    const machine = null;
    const page = matrixReport(
      { version: { commit: "def", sources: "456" }, startedAtEpochMs: 0, machine, results: [kept, measured] },
      { strategies: ["redis-fenced", "redis-lock"], faults: ["pause-holder"] },
    );
    assert.match(
      matrixMarkdown(page),
      /1 of the 2 runs measured abc; what changed since then concerns only `redis-lock`/,
    );
  });

  it("mark a cell that differs from what the traits predict", () => {
    const wrong = result({ strategy: "redis-fenced" });
    const page = matrixMarkdown(report([wrong]));
    assert.match(page, /^- `redis-fenced` under `pause-holder`: expected safe, measured unsafe 1 of 1/m);
    assert.match(page, /^\| `redis-fenced` \| not measured \| \*\*unsafe, not safe\*\* \|/m);
    assert.match(matrixHtml(report([wrong])), /<td class="differs"><a href="#redis-fenced--pause-holder">unsafe<\/a>/);
  });

  it("say why a run proves nothing, and escape what it says", () => {
    const evidence = "the load ended <early> | late";
    const page = report([result({ measured: "inconclusive", violations: {}, evidence })]);
    assert.match(matrixMarkdown(page), /inconclusive 1 of 1: the load ended <early> \\\| late \|/);
    assert.match(matrixHtml(page), /the load ended &lt;early&gt; \| late/);
  });

  it("have results in a form that the site can read", () => {
    assert.deepEqual(faultMatrixSchema.parse(report([safe]).matrix).results, [safe]);
  });
});
