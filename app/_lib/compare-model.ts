import type { RunDocument } from "@/lib/runs/document";
import { curveOfHistogram, medianCurve, mergedLatency } from "@/lib/runs/histogram-curve";
import { finishedRunsOf, readRuns, readSweep } from "@/lib/runs/queries";
import type { SweepDocument } from "@/lib/runs/sweep";
import { groupRuns, hasOneEnvironment, type RunGroup, repeatsOfFirst, sharedSettings } from "./compare-groups";
import type { Selection } from "./compare-selection";

/** What the compare page reads on the server; nothing here may be imported by a client component. */

/** A sweep as the page draws it, without the documents. */
export interface SweepGrid {
  readonly id: string;
  readonly strategies: readonly string[];
  readonly repeats: number;
  readonly done: number;
  readonly total: number;
  readonly cells: readonly {
    readonly strategy: string;
    readonly repeat: number;
    readonly run: Pick<RunDocument, "id" | "status" | "verdict"> | null;
  }[];
}

export interface CompareModel {
  readonly groups: readonly RunGroup[];
  readonly shared: string;
  /** Runs that were asked for and are not there, or have not ended. */
  readonly missing: readonly string[];
  readonly hasOneEnvironment: boolean;
  /** The curves are of the nodes' whole distributions; else of the few percentiles the buyers' side reported. */
  readonly hasWholeCurves: boolean;
  readonly sweep: SweepGrid | null;
}

/** Repeats of a strategy that are looked at. */
const MAX_REPEATS = 30;

export async function readComparison(selection: Selection): Promise<CompareModel> {
  const [picked, ofStrategies, sweep] = await Promise.all([
    readRuns(selection.runs),
    Promise.all(selection.strategies.map((strategy) => finishedRunsOf(strategy, MAX_REPEATS))),
    selection.sweep === null ? null : readSweep(selection.sweep),
  ]);
  const swept = (sweep?.cells ?? []).flatMap(({ run }) => run ?? []);
  const all = unique([...swept, ...ofStrategies.flatMap(repeatsOfFirst), ...picked]);
  const finished = all.filter(({ status }) => status === "finished");
  const hasWholeCurves = finished.every(({ histograms }) => histograms !== undefined);
  const found = new Set(finished.map(({ id }) => id));
  return {
    groups: groupRuns(finished, (repeats) => curveOf(repeats, hasWholeCurves)),
    shared: sharedSettings(finished),
    missing: [
      ...selection.runs.filter((id) => !found.has(id)),
      ...selection.strategies.filter((_, index) => ofStrategies[index]?.length === 0),
    ],
    hasOneEnvironment: hasOneEnvironment(finished),
    hasWholeCurves,
    sweep: sweep === null ? null : gridOf(sweep),
  };
}

function curveOf(repeats: readonly RunDocument[], isWhole: boolean) {
  const merged = isWhole ? mergedLatency(repeats) : null;
  return merged === null ? medianCurve(repeats) : curveOfHistogram(merged);
}

function unique(runs: readonly RunDocument[]): RunDocument[] {
  return [...new Map(runs.map((run) => [run.id, run])).values()];
}

function gridOf({ id, strategies, repeats, done, total, cells }: SweepDocument): SweepGrid {
  return {
    id,
    strategies,
    repeats,
    done,
    total,
    cells: cells.map(({ strategy, repeat, run }) => ({
      strategy,
      repeat,
      run: run === null ? null : { id: run.id, status: run.status, verdict: run.verdict },
    })),
  };
}
