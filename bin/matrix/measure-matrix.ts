import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { FAULT_IDS, type FaultId } from "../../lib/faults/ids";
import {
  type CellResult,
  type FaultMatrix,
  isSameRun,
  type MatrixRun,
  type MatrixSelection,
  matrixRuns,
} from "../../lib/runs/fault-matrix";
import { MATRIX_FILE } from "../../lib/runs/fault-matrix-file";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { labOf } from "../runs/execute";
import { selectStrategies } from "../runs/sweep";
import { print, printError } from "../shared/terminal";
import { DEFAULT_INSTANCE, instancePaths, ROOT } from "../supervisor/paths";
import { codeVersion, openMatrix, withResult, writeMatrix } from "./matrix-file";
import { matrixHtml } from "./matrix-html";
import { matrixMarkdown } from "./matrix-markdown";
import { type MatrixReport, matrixReport, summaryOf } from "./matrix-report";
import { nameOf, type Problem, runMatrix } from "./run-matrix";

export interface MatrixFlags {
  readonly strategies: "all" | string[];
  readonly faults: "all" | FaultId[];
  readonly repeats: number;
  readonly fresh?: boolean;
  readonly keepOthers?: boolean;
  readonly out?: string;
  readonly url?: string;
  readonly json?: boolean;
}

const EXIT = { asExpected: 0, differs: 1, incomplete: 2 } as const;
const BY_SIGNAL = 128;

/** Measures the selected cells that are not measured yet, and writes the pages. @returns the exit code */
export async function measureMatrix(flags: MatrixFlags): Promise<number> {
  if (flags.keepOthers && flags.strategies === "all")
    throw new Error("--keep-others needs --strategies: which strategies are measured again?");
  const lab = await labOf(flags);
  const file = join(instancePaths(DEFAULT_INSTANCE).dir, MATRIX_FILE);
  const { matrix: known, discarded } = openMatrix(
    file,
    await codeVersion(ROOT),
    flags.keepOthers ? [...flags.strategies] : undefined,
  );
  if (discarded !== null) printError(`The matrix starts again: ${discarded}.`);
  const { strategies, unavailable } = await selectStrategies(lab, flags.strategies);
  for (const { id, reason } of unavailable) printError(`${id} is left out. ${reason}`);
  const selection = { strategies, faults: flags.faults === "all" ? FAULT_IDS : flags.faults, repeats: flags.repeats };
  const all = matrixRuns(selection);
  const isSelected = (result: CellResult) => all.some((run) => isSameRun(result, run));
  let matrix: FaultMatrix = flags.fresh ? without(known, isSelected) : known;
  const missing = all.filter((run) => !matrix.results.some((result) => isSameRun(result, run)));
  const stopListening = explainInterrupt(file);
  const problems = await runMatrix({
    lab,
    runs: missing,
    doneBefore: all.length - missing.length,
    out: process.stderr,
    onResult: (result, document) => {
      matrix = { ...withResult(matrix, result), machine: document.machine };
      writeMatrix(file, matrix);
    },
  }).finally(stopListening);
  const report = matrixReport(selected(matrix, all), selection);
  writePages(report, flags, isWhole(selection, problems));
  if (flags.json) print(JSON.stringify(report.matrix, null, 2));
  return conclude(report, problems);
}

function without(matrix: FaultMatrix, isSelected: (result: CellResult) => boolean): FaultMatrix {
  return { ...matrix, results: matrix.results.filter((result) => !isSelected(result)) };
}

/** The results of the selected runs, in their order. */
function selected(matrix: FaultMatrix, runs: readonly MatrixRun[]): FaultMatrix {
  const resultOf = (run: MatrixRun) => matrix.results.find((result) => isSameRun(result, run)) ?? [];
  return { ...matrix, results: runs.flatMap(resultOf) };
}

function isWhole({ strategies, faults }: MatrixSelection, problems: readonly Problem[]): boolean {
  return strategies.length === stockStrategies.size && faults.length === FAULT_IDS.length && problems.length === 0;
}

function explainInterrupt(file: string): () => void {
  const end = (signal: NodeJS.Signals) => {
    const place = relative(process.cwd(), file);
    printError(`\nInterrupted. ${place} has every measured cell; the same command continues after them.`);
    process.exit(BY_SIGNAL + (signal === "SIGINT" ? 2 : 15));
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  return () => process.off("SIGINT", end).off("SIGTERM", end);
}

/** The HTML file goes to the lab's folder; the others also to docs, if every cell of the matrix was measured. */
function writePages(report: MatrixReport, { out }: MatrixFlags, whole: boolean): void {
  const folder = instancePaths(DEFAULT_INSTANCE).dir;
  const write = (path: string, text: string) => {
    writeFileSync(path, text);
    printError(`Wrote ${relative(process.cwd(), path)}`);
  };
  write(join(folder, "fault-matrix.html"), matrixHtml(report));
  write(join(folder, "fault-matrix.md"), matrixMarkdown(report));
  const copies = out ?? (whole ? join(ROOT, "docs") : null);
  if (copies === null) return;
  mkdirSync(copies, { recursive: true });
  write(join(copies, "fault-matrix.md"), matrixMarkdown(report));
  writeMatrix(join(copies, MATRIX_FILE), report.matrix);
  printError(`Wrote ${relative(process.cwd(), join(copies, MATRIX_FILE))}`);
}

function conclude({ measured, differing }: MatrixReport, problems: readonly Problem[]): number {
  for (const cell of differing) {
    printError(
      `DIFFERS: ${cell.strategy}, ${cell.fault ?? "control"}: expected ${cell.expected}, measured ${summaryOf(cell)}`,
    );
  }
  for (const { run, reason } of problems) printError(`NOT MEASURED: ${nameOf(run)}: ${reason}`);
  printError(`${measured.length - differing.length} of ${measured.length} cells and controls are as expected.`);
  if (differing.length > 0) return EXIT.differs;
  return problems.length > 0 ? EXIT.incomplete : EXIT.asExpected;
}
