import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import {
  type CompareColumn,
  columnMax,
  commonSettings,
  compareRows,
  settingsLine,
  sortedParts,
  sortRows,
} from "./compare-rows";
import type { CatalogueStrategy } from "./strategy-catalogue";

const strategies = ["none", "redis-lock", "zk-mutex", "redlock"].map((id) => ({ id }) as CatalogueStrategy);
const violations = { ...runDocument().violations, oversold: 31 };
const throughput = { ...runDocument().throughput, soldPerSecond: null };
const { rows, never } = compareRows(strategies, [
  runDocument({ strategy: "redis-lock" }),
  runDocument({ strategy: "none", verdict: "unsafe", violations }),
  runDocument({ strategy: "zk-mutex", throughput }),
]);
const order = (...sorting: Parameters<typeof sortRows>) => sortRows(...sorting).map((row) => row.strategy.id);

describe("table of last runs", () => {
  it("has a row for each strategy with a run and lists the others", () => {
    assert.deepEqual(
      rows.map(({ strategy }) => strategy.id),
      ["none", "redis-lock", "zk-mutex"],
    );
    assert.deepEqual(
      never.map(({ id }) => id),
      ["redlock"],
    );
  });

  it("sorts by a value in both directions", () => {
    const sorted = ["none", "redis-lock", "zk-mutex"];
    assert.deepEqual(order(rows, { column: "oversold", direction: "descending" }), sorted);
    assert.equal(order(rows, { column: "oversold", direction: "ascending" }).at(-1), "none");
  });

  it("ranks speed among safe runs only, and lists the others below in the order of the catalogue", () => {
    const run = (strategy: string, soldPerSecond: number, verdict: "safe" | "unsafe" | "inconclusive" = "safe") =>
      runDocument({ strategy, verdict, throughput: { ...throughput, soldPerSecond } });
    const all = compareRows(strategies, [
      run("none", 900, "unsafe"),
      run("redis-lock", 80),
      run("zk-mutex", 120),
      run("redlock", 990, "inconclusive"),
    ]).rows;
    const ids = (column: CompareColumn) => {
      const { ranked, unranked } = sortedParts(all, { column, direction: "descending" });
      return [ranked, unranked].map((rows) => rows.map(({ strategy }) => strategy.id));
    };
    assert.deepEqual(ids("soldPerSecond"), [
      ["zk-mutex", "redis-lock"],
      ["none", "redlock"],
    ]);
    assert.deepEqual(ids("p50")[1], ["none", "redlock"]);
    assert.deepEqual(ids("verdict")[1], ["redlock", "none"]);
    const { ranked } = sortedParts(all, { column: "soldPerSecond", direction: "descending" });
    assert.equal(columnMax(ranked, "soldPerSecond"), 120);
  });

  it("puts missing values last in both directions", () => {
    for (const direction of ["ascending", "descending"] as const) {
      assert.equal(order(rows, { column: "soldPerSecond", direction }).at(-1), "zk-mutex");
    }
  });

  it("puts unsafe first when sorted by verdict", () => {
    assert.equal(order(rows, { column: "verdict", direction: "ascending" })[0], "none");
  });

  it("sorts by strategy in catalogue order and its reverse", () => {
    assert.deepEqual(order(rows, { column: "strategy", direction: "ascending" }), ["none", "redis-lock", "zk-mutex"]);
    assert.equal(order(rows, { column: "strategy", direction: "descending" })[0], "zk-mutex");
  });

  it("scales bars to the largest value of the column", () => {
    assert.equal(columnMax(rows, "oversold"), 31);
    assert.equal(columnMax([], "oversold"), 0);
  });

  it("finds the settings that most runs share", () => {
    const { config } = runDocument();
    const line = settingsLine(config);
    assert.deepEqual(commonSettings(rows), { line, count: 3 });
    const odd = runDocument({ strategy: "none", config: { ...config, holdMs: 9 } });
    const mixed = [odd, runDocument({ strategy: "zk-mutex" }), runDocument({ strategy: "redlock" })];
    assert.deepEqual(commonSettings(compareRows(strategies, mixed).rows), { line, count: 2 });
    assert.equal(commonSettings(compareRows(strategies, mixed.slice(0, 2)).rows), null);
    assert.equal(line, "100 units, 500 buyers, hold 5\u00a0ms, 3 nodes, k6");
    assert.match(settingsLine({ ...config, vus: null, rate: 1_200 }), /1,200 buyers\/s/);
  });
});
