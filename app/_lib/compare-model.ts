import type { RunDocument } from "@/lib/runs/document";
import { curveOfHistogram, medianCurve, mergedLatency } from "@/lib/runs/histogram-curve";
import { finishedRunsOf, readRuns } from "@/lib/runs/queries";
import type { SweepDocument, SweepProgress } from "@/lib/runs/sweep";
import { readLiveSweep } from "@/lib/runs/sweeps";
import { groupRuns, hasOneEnvironment, type RunGroup, repeatsOfFirst, sharedSettings } from "./compare-groups";
import type { Selection } from "./compare-selection";

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

export interface CompareModel {
  readonly groups: readonly RunGroup[];
  readonly shared: string;
  /** Selected runs and strategies without a finished run. */
  readonly missing: readonly string[];
  readonly hasOneEnvironment: boolean;
  /** Where the curves come from: the nodes' full histograms if every run has one, else the percentiles that each run reported. */
  readonly curveSource: "nodes" | "buyers" | "mixed";
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
  const curveSource = curveSourceOf(finished);
  const found = new Set(finished.map(({ id }) => id));
  return {
    groups: groupRuns(finished, (repeats) => curveOf(repeats, curveSource === "nodes")),
    shared: sharedSettings(finished),
    missing: [
      ...selection.runs.filter((id) => !found.has(id)),
      ...selection.strategies.filter((_, index) => runsOfStrategies[index]?.length === 0),
    ],
    hasOneEnvironment: hasOneEnvironment(finished),
    curveSource,
    sweep: sweep === null ? null : gridOf(sweep),
  };
}

function curveSourceOf(runs: readonly RunDocument[]): CompareModel["curveSource"] {
  if (runs.every(({ histograms }) => histograms !== undefined)) return "nodes";
  const sources = new Set(runs.map(({ latencySource }) => latencySource));
  if (sources.size > 1) return "mixed";
  return sources.has("client") ? "buyers" : "nodes";
}

function curveOf(repeats: readonly RunDocument[], fromHistograms: boolean) {
  const merged = fromHistograms ? mergedLatency(repeats) : null;
  return merged === null ? medianCurve(repeats) : curveOfHistogram(merged);
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
