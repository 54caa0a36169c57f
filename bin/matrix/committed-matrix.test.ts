import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { FAULT_IDS, type FaultId } from "../../lib/faults/ids";
import { expectedOf, type FaultMatrix, isSameRun, type MatrixRun, matrixRuns } from "../../lib/runs/fault-matrix";
import { MATRIX_FILE, readMatrix } from "../../lib/runs/fault-matrix-file";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { ROOT } from "../supervisor/paths";
import { selectionOf } from "./matrix-report";
import { nameOf } from "./run-matrix";

/** Results whose cell differs from what the traits predict now. A cell that no longer exists has no result to compare. */
function differing({ results }: FaultMatrix): string[] {
  const isFault = (id: string): id is FaultId => FAULT_IDS.some((known) => known === id);
  return results.flatMap(({ strategy, fault, repeat, measured }) => {
    if (!stockStrategies.has(strategy) || (fault !== null && !isFault(fault))) return [];
    const { expected } = expectedOf(strategy, fault);
    if (expected === "not applicable" || expected === measured) return [];
    return [`${nameOf({ strategy, fault, repeat })}: expected ${expected}, measured ${measured}`];
  });
}

/** The runs that a file of the whole catalogue lacks. A file of some strategies is no such file. */
function missing(matrix: FaultMatrix): string[] {
  const selection = selectionOf(matrix);
  const isWhole = selection.strategies.length === stockStrategies.size;
  const isMissing = (run: MatrixRun) => !matrix.results.some((result) => isSameRun(result, run));
  return isWhole ? matrixRuns(selection).filter(isMissing).map(nameOf) : [];
}

describe("the committed fault matrix", () => {
  const committed = readMatrix(join(ROOT, "docs", MATRIX_FILE));
  assert.ok(committed !== null && committed !== "unreadable", `docs/${MATRIX_FILE} is missing or damaged`);

  it("has the expected result in every repeat of every cell", () => {
    assert.deepEqual(differing(committed), []);
  });

  it("has every applicable cell of the catalogue with the same number of repeats, if it has every strategy", () => {
    assert.deepEqual(missing(committed), []);
  });
});

describe("the comparison of a fault matrix with the catalogue", () => {
  const [example] = (readMatrix(join(ROOT, "docs", MATRIX_FILE)) as FaultMatrix).results;
  assert.ok(example);
  const whole = (): FaultMatrix => {
    const runs = matrixRuns({ strategies: [...stockStrategies.keys()], faults: FAULT_IDS, repeats: 2 });
    const results = runs.map((run) => {
      const { expected } = expectedOf(run.strategy, run.fault);
      return { ...example, ...run, measured: expected as (typeof example)["measured"] };
    });
    return { version: { commit: "c", sources: "s" }, startedAtEpochMs: 0, machine: null, results };
  };

  it("accepts a whole matrix with the expected results", () => {
    assert.deepEqual([differing(whole()), missing(whole())], [[], []]);
  });

  it("names a result that differs", () => {
    const matrix = whole();
    const results = matrix.results.map((result) => {
      const isCell = isSameRun(result, { strategy: "redlock", fault: "redlock-node-restart", repeat: 2 });
      return isCell ? { ...result, measured: "safe" as const } : result;
    });
    assert.deepEqual(differing({ ...matrix, results }), [
      "redlock under redlock-node-restart 2: expected unsafe, measured safe",
    ]);
  });

  it("names a run that a whole matrix lacks", () => {
    const matrix = whole();
    const run = { strategy: "redis-decrement", fault: "store-node-crash", repeat: 2 } as const;
    const results = matrix.results.filter((result) => !isSameRun(result, run));
    assert.deepEqual(missing({ ...matrix, results }), ["redis-decrement under store-node-crash 2"]);
  });
});
