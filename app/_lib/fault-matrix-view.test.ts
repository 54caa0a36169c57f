import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CellResult, FaultMatrix } from "../../lib/runs/fault-matrix";
import { COLUMNS, explainCell, matrixRows, matrixSummary } from "./fault-matrix-view";

const RESULT: CellResult = {
  strategy: "redis-lock",
  fault: "pause-holder",
  repeat: 1,
  measured: "unsafe",
  runId: "r1",
  violations: { overlappingHolds: 40, lostUpdates: 2 },
  refusedStaleWrites: 0,
  blockedMs: null,
  nextGrantMs: 1_040,
  lossSignalMs: 1_500,
  unserved: 0,
  unsold: 0,
  evidence: "node-1 was stopped for 2.5 s.",
  elapsedMs: 4_000,
};
const matrixOf = (...results: readonly CellResult[]): FaultMatrix => ({
  version: { commit: "abc", sources: "123" },
  startedAtEpochMs: 0,
  machine: null,
  results: [...results],
});
/** @param name strategy and fault */
const cellOf = (matrix: FaultMatrix, name: string, runIds: readonly string[] = []) => {
  const [strategy, fault] = name.split(" ");
  const row = matrixRows(matrix.results, new Set(runIds)).find((each) => each.strategy === strategy);
  return row?.cells.find((cell) => cell.fault === fault);
};

describe("the page of the fault matrix", () => {
  it("has a row per strategy and a cell per column", () => {
    const rows = matrixRows([], new Set());
    assert.equal(rows.length, 28);
    for (const { cells } of rows)
      assert.deepEqual(
        cells.map(({ fault }) => fault),
        COLUMNS,
      );
  });

  it("opens a cell's run if this lab has it, else the cell's explanation", () => {
    const matrix = matrixOf(RESULT);
    assert.equal(cellOf(matrix, "redis-lock pause-holder", ["r1"])?.href, "/runs/r1");
    const cell = cellOf(matrix, "redis-lock pause-holder");
    assert.deepEqual(
      [cell?.word, cell?.detail, cell?.href],
      ["unsafe", "40 overlaps", "/faults?cell=redis-lock.pause-holder"],
    );
  });

  it("opens the run that differs, if one of several does", () => {
    const wrong: CellResult = { ...RESULT, repeat: 2, runId: "r2", measured: "safe", violations: {} };
    const cell = cellOf(matrixOf(RESULT, wrong), "redis-lock pause-holder", ["r1", "r2"]);
    assert.deepEqual([cell?.kind, cell?.differs, cell?.href], ["mixed", true, "/runs/r2"]);
  });

  it("gives the reason of a cell that has no run", () => {
    const none = cellOf(matrixOf(), "sql-guarded pause-holder");
    assert.deepEqual([none?.kind, none?.href], ["none", null]);
    assert.match(none?.reason ?? "", /changes the stock in one operation/);
    const open = cellOf(matrixOf(), "redis-lock pause-holder");
    assert.deepEqual([open?.kind, open?.word, open?.detail], ["open", "unsafe", "not run"]);
  });

  it("explains a cell with what was measured, what was expected and how to repeat it", () => {
    const explained = explainCell([RESULT], "redis-lock.pause-holder");
    assert.equal(explained?.title, "redis-lock under pause-holder");
    assert.equal(explained?.measured, "unsafe 1 of 1: 40 overlapping holds, 2 lost updates");
    assert.match(explained?.expected ?? "", /^unsafe\. The lock expires during the pause/);
    assert.match(explained?.notes.join(" ") ?? "", /detected its loss 1\.50 s after.*node-1 was stopped/);
    assert.match(explained?.command ?? "", /^npm run lab -- run --strategy redis-lock .* --fault pause-holder@/);
    assert.equal(explainCell([], "redis-lock.pause-holder")?.measured, null);
    for (const name of [undefined, "x", "none.pause-holder"]) assert.equal(explainCell([], name), null);
  });

  it("counts the cells that are as expected", () => {
    const wrong: CellResult = { ...RESULT, strategy: "redis-fenced" };
    assert.deepEqual(matrixSummary(matrixOf(RESULT, wrong)), {
      agreement: "1 of 2 measured cells are as expected",
      differing: 1,
    });
  });
});
