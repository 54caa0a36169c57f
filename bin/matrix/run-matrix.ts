import type { RunDocument } from "../../lib/runs/document";
import { type CellResult, expectedOf, type MatrixRun, matrixRequest, resultOf } from "../../lib/runs/fault-matrix";
import { detailText } from "../../lib/runs/fault-matrix-text";
import { explainFailure } from "../runs/execute";
import { followRun } from "../runs/follow";
import { type LabAddress, openRun } from "../runs/lab-client";
import { otherRunEnded, runActiveError } from "../runs/other-run";
import { SweepBar } from "../runs/sweep-bar";
import type { Output } from "../shared/terminal";

/** Makes the runs of the fault matrix, one after the other. */

export interface MatrixJob {
  readonly lab: LabAddress;
  readonly runs: readonly MatrixRun[];
  /** How many of the matrix's runs an earlier command made. */
  readonly doneBefore: number;
  readonly out: Output;
  /** Called after each run. */
  readonly onResult: (result: CellResult, document: RunDocument) => void;
}

/** A run that could not be made. */
export interface Problem {
  readonly run: MatrixRun;
  readonly reason: string;
}

/** After so many runs in a row that could not be made, the others could not be made either. */
const MAX_PROBLEMS_IN_A_ROW = 3;

/** @returns the runs that could not be made. @throws Error if several in a row could not be made */
export async function runMatrix({ lab, runs, doneBefore, out, onResult }: MatrixJob): Promise<Problem[]> {
  const bar = new SweepBar(out, doneBefore + runs.length);
  bar.reached(doneBefore);
  const problems: Problem[] = [];
  let inARow = 0;
  for (const [index, run] of runs.entries()) {
    const label = nameOf(run);
    try {
      const made = await makeRun({ lab, run, bar, label });
      onResult(made.result, made.document);
      inARow = 0;
    } catch (error) {
      const reason = explainFailure(error);
      bar.note(`${label}: ${reason}`);
      problems.push({ run, reason });
      inARow += 1;
      if (inARow === MAX_PROBLEMS_IN_A_ROW) throw new Error(`${inARow} runs in a row could not be made. ${reason}`);
    }
    bar.reached(doneBefore + index + 1);
  }
  bar.close();
  return problems;
}

/** `redis-lock under pause-holder 1` */
export function nameOf({ strategy, fault, repeat }: MatrixRun): string {
  return `${strategy} ${fault === null ? "without a fault" : `under ${fault}`} ${repeat}`;
}

interface RunToMake {
  readonly lab: LabAddress;
  readonly run: MatrixRun;
  readonly bar: SweepBar;
  readonly label: string;
}

async function makeRun({ lab, run, bar, label }: RunToMake): Promise<{ result: CellResult; document: RunDocument }> {
  const startedAtMs = performance.now();
  const opened = await openWhenFree({ lab, run, bar, label });
  const progress = bar.progress(label);
  const document = await followRun(lab, opened, (sample) => progress.sample(sample));
  const result = resultOf(run, document, performance.now() - startedAtMs);
  progress.end(lineOf(result, expectedOf(run.strategy, run.fault).expected));
  return { result, document };
}

async function openWhenFree({ lab, run, bar, label }: RunToMake): Promise<RunDocument> {
  for (;;) {
    try {
      return await openRun(lab, matrixRequest(run));
    } catch (error) {
      const active = runActiveError(error);
      if (active === null) throw error;
      bar.note(`${label}: waiting. ${active.message}`);
      if (!(await otherRunEnded(lab, active))) throw error;
    }
  }
}

/** `unsafe, as expected: 3 overlapping holds (4.1 s)` */
function lineOf(result: CellResult, expected: string): string {
  const { measured, elapsedMs, evidence } = result;
  const compared = measured === expected ? "as expected" : `DIFFERS, expected ${expected}`;
  const detail = measured === "inconclusive" ? (evidence ?? "") : detailText({ results: [result] });
  return `${measured}, ${compared}${detail === "" ? "" : `: ${detail}`} (${(elapsedMs / 1_000).toFixed(1)} s)`;
}
