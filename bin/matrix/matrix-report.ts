import { FAULT_IDS, type FaultId } from "../../lib/faults/ids";
import {
  type FaultMatrix,
  type MatrixCell,
  type MatrixSelection,
  matrixCell,
  replayCommand,
} from "../../lib/runs/fault-matrix";
import { detailText, measuredText } from "../../lib/runs/fault-matrix-text";
import { stockStrategies } from "../../lib/stock/stock-strategies";

/** The measured part of the matrix in the order of the catalogue, for the pages that the command writes. */

export interface MatrixReport {
  readonly matrix: FaultMatrix;
  readonly strategies: readonly string[];
  readonly faults: readonly FaultId[];
  /** Controls and cells that were measured. */
  readonly measured: readonly MatrixCell[];
  readonly differing: readonly MatrixCell[];
  readonly repeats: number;
  readonly elapsedMs: number;
}

export function matrixReport(
  matrix: FaultMatrix,
  { strategies, faults }: { readonly strategies: readonly string[]; readonly faults: readonly FaultId[] },
): MatrixReport {
  const cells = strategies.flatMap((strategy) =>
    [null, ...faults].map((fault) => matrixCell(strategy, fault, matrix.results)),
  );
  const measured = cells.filter(({ results }) => results.length > 0);
  const results = measured.flatMap((cell) => cell.results);
  return {
    matrix,
    strategies,
    faults,
    measured,
    differing: measured.filter(({ differs }) => differs),
    repeats: Math.max(0, ...results.map(({ repeat }) => repeat)),
    elapsedMs: results.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
  };
}

/** The strategies of which the file has results, in the order of the catalogue, and every fault: what its page shows. */
export function selectionOf({ results }: FaultMatrix): MatrixSelection {
  const measured = new Set(results.map(({ strategy }) => strategy));
  const strategies = [...stockStrategies.keys()].filter((id) => measured.has(id));
  return { strategies, faults: FAULT_IDS, repeats: Math.max(0, ...results.map(({ repeat }) => repeat)) };
}

/** One word for a cell of the overview table. */
export function wordOf(cell: MatrixCell): string {
  if (cell.expected === "not applicable") return "–";
  const [first, ...others] = [...new Set(cell.results.map(({ measured }) => measured))];
  if (first === undefined) return "not measured";
  return others.length === 0 ? first : "mixed";
}

/** `unsafe 3 of 3: 1 to 4 overlapping holds` */
export function summaryOf(cell: MatrixCell): string {
  const reasons = cell.results
    .filter(({ measured }) => measured === "inconclusive")
    .map(({ evidence }) => evidence ?? "");
  const details = [detailText(cell), ...new Set(reasons)].filter((text) => text !== "");
  return details.length === 0 ? measuredText(cell) : `${measuredText(cell)}: ${details.join("; ")}`;
}

export function commandOf({ strategy, fault }: MatrixCell): string {
  return replayCommand({ strategy, fault, repeat: 1 });
}

/** The strategies that an earlier commit was measured with, because the changes since then do not concern them. */
function keptText({ version, results }: MatrixReport["matrix"]): string[] {
  const commits = new Set(
    results.flatMap(({ commit = version.commit }) => (commit === version.commit ? [] : [commit])),
  );
  return [...commits].map((commit) => {
    const kept = results.filter((result) => result.commit === commit);
    const again = new Set(
      results.filter((result) => result.commit !== commit).map(({ strategy }) => `\`${strategy}\``),
    );
    return `${kept.length} of the ${results.length} runs measured ${commit}; what changed since then concerns only ${[...again].join(", ")}`;
  });
}

/** The circumstances of the measurement, one sentence each. */
export function circumstances({ matrix, repeats, elapsedMs, measured }: MatrixReport): string[] {
  const { machine, version, startedAtEpochMs } = matrix;
  const controls = measured.filter(({ fault }) => fault === null).length;
  const minutes = Math.max(1, Math.round(elapsedMs / 60_000));
  return [
    `${measured.length - controls} cells and ${controls} controls, ${repeats} ${repeats === 1 ? "repeat" : "repeats"} each, measured in ${minutes} min`,
    `Version: ${version.commit}, sources ${version.sources}, ${new Date(startedAtEpochMs).toISOString().slice(0, 10)}`,
    ...keptText(matrix),
    machine === null
      ? "Machine: unknown"
      : `Machine: ${machine.cpus} x ${machine.cpuModel}, ${Math.round(machine.memoryMb / 1_024)} GB, ${machine.os}; store nodes, servers and load generator share it`,
  ];
}
