import { setTimeout as delay } from "node:timers/promises";
import type { RunDocument } from "../../lib/runs/document";
import type { LaunchedRequest } from "../../lib/runs/rerun-request";
import { cellKey, nextStep, type SweepCell, type SweepPlan, sweepCells } from "../../lib/runs/sweep";
import type { SweepMark } from "../../lib/runs/sweep-mark";
import { executeRun, explainFailure, followToEnd } from "./execute";
import { describeLab, type LabAddress, LabRefusal, readRun, readSweep } from "./lab-client";
import type { ProgressOutput } from "./progress";
import { SweepBar } from "./sweep-bar";

/** Repeats of several strategies, interleaved; what has been done is read from the lab's database before every step. */

export interface SweepRun {
  readonly strategy: string;
  readonly repeat: number;
  /** Null when the run could not be made; then `problem` says why. */
  readonly document: RunDocument | null;
  readonly problem: string | null;
  /** From asking for the run to its final document; null for runs of an earlier sitting. */
  readonly elapsedMs: number | null;
}

export interface SweepOrder extends SweepPlan {
  /** The body of `POST /api/runs` for one run of a strategy, without the sweep's mark. */
  readonly request: (strategy: string) => Readonly<Record<string, unknown>> | LaunchedRequest;
}

export interface SweepSelection {
  readonly strategies: readonly string[];
  /** Left out of `all`, each with its reason. */
  readonly unavailable: readonly { readonly id: string; readonly reason: string }[];
}

/** No sweep is longer than this many runs. */
export const MAX_RUNS = 500;
/** How long a sweep waits for a run of somebody else's to end. */
const FOREIGN_RUN_LIMIT_MS = 15 * 60_000;
const FOREIGN_RUN_POLL_MS = 1_000;

/**
 * What `--strategies` means in this lab. Of `all` the unavailable are left out and named.
 * @throws Error for a strategy that was named and is not available
 */
export async function selectStrategies(lab: LabAddress, wanted: "all" | readonly string[]): Promise<SweepSelection> {
  const { strategies } = await describeLab(lab);
  const absent = strategies.filter((strategy) => !strategy.available);
  const unavailable = absent.map(({ id, unavailableReason }) => ({ id, reason: unavailableReason ?? "not available" }));
  if (wanted === "all") {
    return { strategies: strategies.filter(({ available }) => available).map(({ id }) => id), unavailable };
  }
  const missing = unavailable.filter(({ id }) => wanted.includes(id));
  if (missing.length > 0) throw new Error(missing.map(({ id, reason }) => `${id}: ${reason}`).join("\n"));
  return { strategies: wanted, unavailable: [] };
}

/** Sortable by time, short enough to type. */
export function newSweepId(epochMs = Date.now()): string {
  return `s${epochMs.toString(36)}${Math.floor(Math.random() * 1_296)
    .toString(36)
    .padStart(2, "0")}`;
}

/** Makes all runs that are not there yet, one after the other; one that fails is noted and the rest go on. */
export async function sweep(lab: LabAddress, order: SweepOrder, out: ProgressOutput): Promise<SweepRun[]> {
  const sitting = new Sitting(lab, order, out);
  return sitting.run();
}

class Sitting {
  private readonly givenUp = new Set<string>();
  private readonly problems = new Map<string, string>();
  private readonly elapsedMs = new Map<string, number>();
  private readonly bar: SweepBar;

  constructor(
    private readonly lab: LabAddress,
    private readonly order: SweepOrder,
    out: ProgressOutput,
  ) {
    this.bar = new SweepBar(out, order.strategies.length * order.repeats);
  }

  async run(): Promise<SweepRun[]> {
    for (;;) {
      const cells = await this.readCells();
      this.bar.reached(cells.filter(({ run }) => run?.status === "finished").length);
      const step = nextStep(cells, this.givenUp);
      if (step.kind === "complete") {
        this.bar.close();
        return cells.map((cell) => this.result(cell));
      }
      await this.make(step.cell, step.kind === "follow" ? step.run : null);
    }
  }

  private async readCells(): Promise<readonly SweepCell[]> {
    const known = await readSweep(this.lab, this.order.id);
    return known?.cells ?? sweepCells(this.order, []);
  }

  private async make(cell: SweepCell, running: RunDocument | null): Promise<void> {
    const { strategy, repeat } = cell;
    const label = `${strategy} ${repeat}/${this.order.repeats}`;
    const key = cellKey(strategy, repeat);
    const startedAtMs = performance.now();
    try {
      const progress = this.bar.progress(label);
      const document = running
        ? await followToEnd(this.lab, running, progress)
        : await executeRun(this.lab, { request: this.requestFor(cell), progress });
      if (document.status !== "finished") this.givenUp.add(key);
    } catch (error) {
      if (await this.waitForForeignRun(error, label)) return;
      const problem = explainFailure(error);
      this.bar.note(`${label}: ${problem}`);
      this.problems.set(key, problem);
      this.givenUp.add(key);
    }
    this.elapsedMs.set(key, performance.now() - startedAtMs);
  }

  private requestFor({ strategy, repeat }: SweepCell): Readonly<Record<string, unknown>> {
    const { id, repeats, strategies, request } = this.order;
    const mark: SweepMark = { id, repeat, repeats, strategies: [...strategies] };
    return { ...request(strategy), sweep: mark };
  }

  /** One run at a time: who came first ends first. @returns true when the cell is worth another look */
  private async waitForForeignRun(error: unknown, label: string): Promise<boolean> {
    if (!(error instanceof LabRefusal) || error.code !== "run_active") return false;
    const { runId } = error;
    this.bar.note(`${label}: waits, ${error.message}`);
    const giveUpAtMs = performance.now() + FOREIGN_RUN_LIMIT_MS;
    while (performance.now() < giveUpAtMs) {
      await delay(FOREIGN_RUN_POLL_MS);
      // Without an id it is only just being opened.
      if (runId === null || (await readRun(this.lab, runId)).status !== "running") return true;
    }
    return false;
  }

  private result({ strategy, repeat, run }: SweepCell): SweepRun {
    const key = cellKey(strategy, repeat);
    const problem = run === null ? (this.problems.get(key) ?? "it was not made") : null;
    return { strategy, repeat, document: run, problem, elapsedMs: this.elapsedMs.get(key) ?? null };
  }
}

/** True when the run was made, came to its end, and concluded what the catalogue expects. */
export function isAsExpected({ document }: Pick<SweepRun, "document">): boolean {
  return document !== null && document.status === "finished" && document.verdict === document.expected;
}
