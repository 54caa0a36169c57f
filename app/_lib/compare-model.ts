import type { RunDocument } from "@/lib/runs/document";
import { finishedRunsOf, readRuns } from "@/lib/runs/queries";
import type { SweepDocument, SweepProgress } from "@/lib/runs/sweep";
import { readLiveSweep } from "@/lib/runs/sweeps";
import { repeatsOfFirst } from "./compare-groups";
import type { Selection } from "./compare-selection";
import { type ComparedRuns, comparedRuns } from "./compared-runs";

/** Server-side data of the compare page; client components must not import this module. */

/** The sweep grid, without the run documents. */
export interface SweepGrid {
  readonly id: string;
  readonly strategies: readonly string[];
  readonly repeats: number;
  readonly done: number;
  readonly total: number;
  readonly active: SweepProgress | null;
  readonly cells: readonly {
    readonly strategy: string;
    readonly repeat: number;
    readonly run: Pick<RunDocument, "id" | "status" | "verdict"> | null;
  }[];
}

export interface CompareModel extends ComparedRuns {
  /** Selected runs and strategies without a finished run. */
  readonly missing: readonly string[];
  readonly sweep: SweepGrid | null;
}

/** Newest finished runs that are loaded per strategy. */
const MAX_REPEATS = 30;

export async function readComparison(selection: Selection): Promise<CompareModel> {
  const [picked, runsOfStrategies, sweep] = await Promise.all([
    readRuns(selection.runs),
    Promise.all(selection.strategies.map((strategy) => finishedRunsOf(strategy, MAX_REPEATS))),
    selection.sweep === null ? null : readLiveSweep(selection.sweep),
  ]);
  const swept = (sweep?.cells ?? []).flatMap(({ run }) => run ?? []);
  const all = unique([...swept, ...runsOfStrategies.flatMap(repeatsOfFirst), ...picked]);
  const finished = all.filter(({ status }) => status === "finished");
  const found = new Set(finished.map(({ id }) => id));
  return {
    ...comparedRuns(finished),
    missing: [
      ...selection.runs.filter((id) => !found.has(id)),
      ...selection.strategies.filter((_, index) => runsOfStrategies[index]?.length === 0),
    ],
    sweep: sweep === null ? null : gridOf(sweep),
  };
}

function unique(runs: readonly RunDocument[]): RunDocument[] {
  return [...new Map(runs.map((run) => [run.id, run])).values()];
}

function gridOf({ id, strategies, repeats, done, total, cells, active }: SweepDocument): SweepGrid {
  return {
    id,
    strategies,
    repeats,
    done,
    total,
    active,
    cells: cells.map(({ strategy, repeat, run }) => ({
      strategy,
      repeat,
      run: run === null ? null : { id: run.id, status: run.status, verdict: run.verdict },
    })),
  };
}
