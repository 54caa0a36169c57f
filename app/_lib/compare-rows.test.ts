import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "../../tests/support/run-fixture";
import type { CatalogueStrategy } from "./catalogue";
import { columnMax, compareRows, sameSettings, settingsLine, sortRows } from "./compare-rows";

const strategies = ["none", "redis-lock", "zk-mutex", "redlock"].map((id) => ({ id }) as CatalogueStrategy);
const violations = { ...runDocument().violations, oversold: 31 };
const throughput = { ...runDocument().throughput, soldPerSecond: null };
const rows = compareRows(strategies, [
  runDocument({ strategy: "redis-lock" }),
  runDocument({ strategy: "none", verdict: "unsafe", violations }),
  runDocument({ strategy: "zk-mutex", throughput }),
]);
const order = (...sorting: Parameters<typeof sortRows>) => sortRows(...sorting).map((row) => row.strategy.id);

describe("the comparison", () => {
  it("has a row for every strategy, run or not", () => {
    assert.deepEqual(
      rows.map((row) => row.run !== null),
      [true, true, true, false],
    );
  });

  it("sorts by a figure either way, what was never run at the end", () => {
    assert.deepEqual(order(rows, { column: "oversold", direction: "descending" }), [
      "none",
      "redis-lock",
      "zk-mutex",
      "redlock",
    ]);
    assert.equal(order(rows, { column: "oversold", direction: "ascending" }).at(-1), "redlock");
    assert.equal(order(rows, { column: "oversold", direction: "ascending" }).at(-2), "none");
  });

  it("puts a missing figure behind the others whichever way", () => {
    for (const direction of ["ascending", "descending"] as const) {
      assert.equal(order(rows, { column: "soldPerSecond", direction }).at(-2), "zk-mutex");
    }
  });

  it("puts the unsafe first when sorted by verdict", () => {
    assert.equal(order(rows, { column: "verdict", direction: "ascending" })[0], "none");
  });

  it("keeps the catalogue's order under strategy, and turns it round", () => {
    assert.deepEqual(order(rows, { column: "strategy", direction: "ascending" }), [
      "none",
      "redis-lock",
      "zk-mutex",
      "redlock",
    ]);
    assert.equal(order(rows, { column: "strategy", direction: "descending" })[0], "zk-mutex");
  });

  it("scales bars by the column's largest figure", () => {
    assert.equal(columnMax(rows, "oversold"), 31);
    assert.equal(columnMax([], "oversold"), 0);
  });

  it("says when the runs were not made with the same settings", () => {
    assert.equal(sameSettings(rows), true);
    const { config } = runDocument();
    const odd = compareRows(strategies, [
      runDocument({ strategy: "none", config: { ...config, holdMs: 9 } }),
      runDocument(),
    ]);
    assert.equal(sameSettings(odd), false);
    assert.equal(settingsLine(config), "100 units, 500 buyers, hold 5 ms, 3 nodes, k6");
    assert.match(settingsLine({ ...config, vus: null, rate: 1_200 }), /1,200 buyers\/s/);
  });
});
