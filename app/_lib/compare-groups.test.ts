import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RunDocument } from "../../lib/runs/document";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import { baselineOf, comparedWith, groupRuns, repeatsOfFirst, sharedSettings, sortGroups } from "./compare-groups";
import { compareHref, NO_SELECTION, selectionFromQuery, selectionQuery, toggled } from "./compare-selection";

const noCurve = () => [];
const blank = runDocument();
let runCount = 0;

function runOf(strategy: string, p50: number, change: Partial<RunDocument["config"]> = {}): RunDocument {
  runCount += 1;
  const latencyMs = { ...blank.latencyMs, p50 };
  return runDocument({ id: `r${runCount}`, strategy, latencyMs, config: { ...blank.config, ...change } });
}

describe("repeats", () => {
  it("are runs of one strategy with the same settings; the seed may differ", () => {
    const runs = [runOf("a", 10), runOf("b", 20), runOf("a", 12, { seed: 9 }), runOf("a", 11)];
    const groups = groupRuns(runs, noCurve);
    assert.deepEqual(
      groups.map(({ key, runs: { length }, metrics }) => [key, length, metrics.p50?.median]),
      [
        ["a", 3, 11],
        ["b", 1, 20],
      ],
    );
  });

  it("exclude runs with other settings, and each group names its differing settings", () => {
    const runs = [runOf("a", 10), runOf("a", 30, { holdMs: 20 }), runOf("a", 30, { holdMs: 20, nodes: 1 })];
    const groups = groupRuns(runs, noCurve);
    assert.deepEqual(
      groups.map(({ key, difference }) => [key, difference]),
      [
        ["a", "hold 5\u00a0ms, 3 nodes"],
        ["a-2", "hold 20\u00a0ms, 3 nodes"],
        ["a-3", "hold 20\u00a0ms, 1 node"],
      ],
    );
    assert.doesNotMatch(sharedSettings(runs), /hold|node/);
    assert.match(
      sharedSettings(runs),
      /^100 units of a product, 500 buyers, lease 5\u00a0s, wait up to 10\u00a0s, k6$/,
    );
  });

  it("exclude runs that have not finished", () => {
    assert.deepEqual(groupRuns([runDocument({ status: "running" }), runDocument({ status: "failed" })], noCurve), []);
  });

  it("of a strategy have the settings and lab version of its newest run", () => {
    const newest = runOf("a", 10);
    const older = { ...runOf("a", 10), versions: { lab: "another" } };
    assert.deepEqual(repeatsOfFirst([newest, older, runOf("a", 5, { stock: 3 })]), [newest]);
  });

  it("have no common verdict if they disagree", () => {
    const unsafe = { ...runOf("a", 10), verdict: "unsafe" as const };
    assert.equal(groupRuns([runOf("a", 10), unsafe], noCurve)[0]?.verdict, null);
    assert.equal(groupRuns([runOf("a", 10)], noCurve)[0]?.verdict, "safe");
  });

  it("are compared with the baseline; the baseline is not compared", () => {
    const groups = groupRuns(
      [10, 11, 12].flatMap((p50) => [runOf("a", p50), runOf("b", 4 * p50)]),
      noCurve,
    );
    const [a, b] = groups;
    assert.ok(a && b);
    assert.equal(comparedWith(a, a, "p50"), null);
    assert.deepEqual(comparedWith(b, a, "p50"), { kind: "slower", factor: 4 });
    assert.deepEqual(comparedWith(b, a, "p99"), { kind: "no_clear_difference" });
    assert.equal(comparedWith(b, a, "wait"), null, "expected no comparison of wait times");
  });

  it("are compared only if all of them are safe", () => {
    const unsafe = (p50: number) => ({ ...runOf("none", p50), verdict: "unsafe" as const });
    const mixed = (p50: number, index: number) =>
      index === 0 ? { ...runOf("m", p50), verdict: "unsafe" as const } : runOf("m", p50);
    const runs = [10, 11, 12].flatMap((p50, index) => [
      unsafe(p50),
      mixed(p50, index),
      runOf("a", 4 * p50),
      runOf("b", 9 * p50),
    ]);
    const [none, some, a, b] = groupRuns(runs, noCurve);
    assert.ok(none && some && a && b);
    assert.deepEqual(
      [none, some, a, b].map(({ isRanked }) => isRanked),
      [false, false, true, true],
    );
    for (const broken of [none, some]) {
      assert.equal(comparedWith(broken, a, "p50"), null, `${broken.key} beside a`);
      assert.equal(comparedWith(a, broken, "p50"), null, `a beside ${broken.key}`);
      assert.equal(baselineOf([none, some, a, b], broken.key), a, "expected a safe baseline");
    }
    assert.deepEqual(comparedWith(b, a, "p50"), { kind: "slower", factor: 2.25 });
    assert.equal(baselineOf([none, some], null), null);
    assert.equal(none.why, "All 100 units were sold once.");
    assert.equal(a.why, null);
  });

  it("that are not all safe follow the ranked ones, and keep their order when sorted by speed", () => {
    const unsafe = (strategy: string, p50: number) => ({ ...runOf(strategy, p50), verdict: "unsafe" as const });
    const groups = groupRuns([unsafe("x", 3), unsafe("y", 1), runOf("b", 20), runOf("a", 10)], noCurve);
    const keys = (column: "p50" | "strategy") =>
      sortGroups(groups, { column, direction: "ascending" })
        .map(({ key }) => key)
        .join("");
    assert.equal(keys("p50"), "abxy");
    assert.equal(keys("strategy"), "baxy");
  });

  it("are compared by the buyers' latency, never by that of the nodes", () => {
    const inside = { ...runOf("a", 10), latencySource: "server" as const };
    assert.equal(groupRuns([inside], noCurve)[0]?.metrics.p50, null);
  });

  it("sort by any column, with missing values last", () => {
    const nothing = { ...runOf("c", 1), latencyMs: { ...blank.latencyMs, p50: null } };
    const groups = groupRuns([runOf("a", 30), runOf("b", 10), nothing], noCurve);
    const order = (...sorting: Parameters<typeof sortGroups>) =>
      sortGroups(...sorting)
        .map(({ key }) => key)
        .join("");
    assert.equal(order(groups, { column: "p50", direction: "ascending" }), "bac");
    assert.equal(order(groups, { column: "p50", direction: "descending" }), "abc");
    assert.equal(order(groups, { column: "strategy", direction: "descending" }), "cba");
  });
});

describe("selection in the URL", () => {
  const id = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
  const ids = fc.uniqueArray(id, { maxLength: 6 });

  it("round-trips through the query", () => {
    const selections = fc.record(
      { runs: ids, strategies: ids, sweep: fc.option(id, { nil: null }), base: fc.option(id, { nil: null }) },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(selections, (selection) => {
        const query = Object.fromEntries(new URLSearchParams(selectionQuery(selection)));
        assert.deepEqual(selectionFromQuery(query), selection);
      }),
    );
  });

  it("ignores malformed parts of the query", () => {
    assert.deepEqual(selectionFromQuery({}), NO_SELECTION);
    assert.deepEqual(selectionFromQuery({ runs: ["a,b", "b", "<x>"], base: ["x", "y"] }).runs, ["a", "b"]);
    assert.equal(compareHref({ runs: ["a", "b"] }), "/compare?runs=a,b");
    assert.equal(compareHref({}), "/compare");
  });

  it("adds and removes single items", () => {
    assert.deepEqual(toggled(["a", "b"], "a"), ["b"]);
    assert.deepEqual(toggled(["a"], "c"), ["a", "c"]);
  });
});
