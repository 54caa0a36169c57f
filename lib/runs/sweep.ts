import type { RunDocument } from "./document";
import type { SweepMark } from "./sweep-mark";

/** A sweep: repeats of several strategies, interleaved (A B C A B C), so that a machine that slows down slows all of them alike. */

export type SweepPlan = Readonly<Omit<SweepMark, "repeat" | "strategies">> & { readonly strategies: readonly string[] };

export interface SweepCell {
  readonly strategy: string;
  readonly repeat: number;
  /** The finished run, else the running one, else the last stopped or failed one. Null: not started. */
  readonly run: RunDocument | null;
}

/** Maximum number of runs of a sweep. */
export const MAX_RUNS = 500;

/** State of a sweep that the lab makes itself. */
export interface SweepProgress {
  /** By the mean of the runs so far; null before the first one has finished. */
  readonly remainingMs: number | null;
  /** Runs that could not be made or did not finish, each with the reason. */
  readonly problems: readonly string[];
}

/** Sorts by time, and is short enough to type. */
export function newSweepId(epochMs = Date.now()): string {
  const random = crypto.randomUUID().slice(0, 8);
  return `s${epochMs.toString(36)}${random}`;
}

/** Body of `GET /api/sweeps/{id}`. */
export interface SweepDocument extends SweepPlan {
  readonly startedAtEpochMs: number;
  /** Number of cells whose run has finished. */
  readonly done: number;
  readonly total: number;
  /** In the order in which they run. */
  readonly cells: readonly SweepCell[];
  /** Null unless the answering process makes the sweep now: a command may make it. */
  readonly active: SweepProgress | null;
}

/** An entry of `GET /api/sweeps`, newest first. */
export type SweepSummary = Omit<SweepDocument, "cells">;

const RANK: Record<RunDocument["status"], number> = { finished: 2, running: 1, stopped: 0, failed: 0 };

/** Every cell with its run, in the order in which they run. */
export function sweepCells({ strategies, repeats }: SweepPlan, runs: readonly RunDocument[]): SweepCell[] {
  const best = new Map<string, RunDocument>();
  for (const run of runs) {
    const key = cellKey(run.strategy, run.config.sweep?.repeat ?? 0);
    const earlier = best.get(key);
    if (earlier === undefined || RANK[run.status] >= RANK[earlier.status]) best.set(key, run);
  }
  return Array.from({ length: repeats }, (_, index) =>
    strategies.map((strategy) => {
      const repeat = index + 1;
      return { strategy, repeat, run: best.get(cellKey(strategy, repeat)) ?? null };
    }),
  ).flat();
}

/** @param runs of one sweep, oldest first. @returns null without runs */
export function sweepDocument(runs: readonly RunDocument[]): SweepDocument | null {
  const [first] = runs;
  const mark = first?.config.sweep;
  if (first === undefined || mark === undefined) return null;
  return documentOf(mark, runs, first.startedAtEpochMs);
}

/** A sweep whose first run has not been opened yet. */
export function emptySweep(plan: SweepPlan, startedAtEpochMs: number): SweepDocument {
  return documentOf(plan, [], startedAtEpochMs);
}

function documentOf(plan: SweepPlan, runs: readonly RunDocument[], startedAtEpochMs: number): SweepDocument {
  const { id, repeats, strategies } = plan;
  const cells = sweepCells(plan, runs);
  const done = cells.filter(({ run }) => run?.status === "finished").length;
  return { id, repeats, strategies, startedAtEpochMs, done, total: cells.length, cells, active: null };
}

export type SweepStep =
  /** A run of this sweep is running, opened before an interruption or by another command. */
  | { readonly kind: "follow"; readonly cell: SweepCell; readonly run: RunDocument }
  | { readonly kind: "open"; readonly cell: SweepCell }
  | { readonly kind: "complete" };

/** The next step of a sweep. @param skipped cells whose run failed since the command started, by `cellKey` */
export function nextStep(cells: readonly SweepCell[], skipped: ReadonlySet<string>): SweepStep {
  for (const cell of cells) {
    if (cell.run?.status === "running") return { kind: "follow", cell, run: cell.run };
  }
  const cell = cells.find(
    ({ strategy, repeat, run }) => run?.status !== "finished" && !skipped.has(cellKey(strategy, repeat)),
  );
  return cell === undefined ? { kind: "complete" } : { kind: "open", cell };
}

export function cellKey(strategy: string, repeat: number): string {
  return `${strategy} ${repeat}`;
}
