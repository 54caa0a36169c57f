import type { RunDocument } from "../../lib/runs/document";
import type { LaunchedRequest } from "../../lib/runs/rerun-request";
import { cellKey, nextStep, type SweepCell, type SweepPlan, sweepCells } from "../../lib/runs/sweep";
import type { SweepMark } from "../../lib/runs/sweep-mark";
import type { Output } from "../shared/terminal";
import { executeRun, explainFailure, followToEnd } from "./execute";
import { describeLab, type LabAddress, readSweep } from "./lab-client";
import { otherRunEnded, runActiveError } from "./other-run";
import { SweepBar } from "./sweep-bar";

/** Makes the runs of a sweep. Reads the completed runs from the lab before every step, so that it can be resumed. */

export interface SweepRun {
  readonly strategy: string;
  readonly repeat: number;
  /** Null if the run could not be made; then `problem` has the reason. */
  readonly document: RunDocument | null;
  readonly problem: string | null;
  /** From the request to the final document; null for runs of an earlier command. */
  readonly elapsedMs: number | null;
}

export interface SweepJob extends SweepPlan {
  /** The body of `POST /api/runs` for one run of a strategy, without the `sweep` field. */
  readonly request: (strategy: string) => Readonly<Record<string, unknown>> | LaunchedRequest;
}

export interface SweepSelection {
  readonly strategies: readonly string[];
  /** Strategies that `all` leaves out, each with the reason. */
  readonly unavailable: readonly { readonly id: string; readonly reason: string }[];
}

/**
 * The strategies of `--strategies` in this lab. `all` leaves out the unavailable ones and lists them.
 * @throws Error if a named strategy is not available
 */
export async function selectStrategies(lab: LabAddress, wanted: "all" | readonly string[]): Promise<SweepSelection> {
  const { strategies } = await describeLab(lab);
  const missing = strategies.filter((strategy) => !strategy.available);
  const unavailable = missing.map(({ id, unavailableReason }) => ({
    id,
    reason: unavailableReason ?? "not available",
  }));
  if (wanted === "all") {
    return { strategies: strategies.filter(({ available }) => available).map(({ id }) => id), unavailable };
  }
  const refused = unavailable.filter(({ id }) => wanted.includes(id));
  if (refused.length > 0) throw new Error(refused.map(({ id, reason }) => `${id}: ${reason}`).join("\n"));
  return { strategies: wanted, unavailable: [] };
}

/** Makes all missing runs, one after the other. Notes a run that fails and continues. */
export async function sweep(lab: LabAddress, job: SweepJob, out: Output): Promise<SweepRun[]> {
  return new SweepCommand(lab, job, out).run();
}

class SweepCommand {
  private readonly skipped = new Set<string>();
  private readonly problems = new Map<string, string>();
  private readonly elapsedMs = new Map<string, number>();
  private readonly bar: SweepBar;

  constructor(
    private readonly lab: LabAddress,
    private readonly job: SweepJob,
    out: Output,
  ) {
    this.bar = new SweepBar(out, job.strategies.length * job.repeats);
  }

  async run(): Promise<SweepRun[]> {
    for (;;) {
      const cells = await this.readCells();
      this.bar.reached(cells.filter(({ run }) => run?.status === "finished").length);
      const step = nextStep(cells, this.skipped);
      if (step.kind === "complete") {
        this.bar.close();
        return cells.map((cell) => this.result(cell));
      }
      await this.make(step.cell, step.kind === "follow" ? step.run : null);
    }
  }

  private async readCells(): Promise<readonly SweepCell[]> {
    const known = await readSweep(this.lab, this.job.id);
    return known?.cells ?? sweepCells(this.job, []);
  }

  private async make(cell: SweepCell, running: RunDocument | null): Promise<void> {
    const { strategy, repeat } = cell;
    const label = `${strategy} ${repeat}/${this.job.repeats}`;
    const key = cellKey(strategy, repeat);
    const startedAtMs = performance.now();
    try {
      const progress = this.bar.progress(label);
      const document = running
        ? await followToEnd(this.lab, running, progress)
        : await executeRun(this.lab, { request: this.requestFor(cell), progress });
      if (document.status !== "finished") this.skipped.add(key);
    } catch (error) {
      if (await this.waitForOtherRun(error, label)) return;
      const problem = explainFailure(error);
      this.bar.note(`${label}: ${problem}`);
      this.problems.set(key, problem);
      this.skipped.add(key);
    }
    this.elapsedMs.set(key, performance.now() - startedAtMs);
  }

  private requestFor({ strategy, repeat }: SweepCell): Readonly<Record<string, unknown>> {
    const { id, repeats, strategies, request } = this.job;
    const mark: SweepMark = { id, repeat, repeats, strategies: [...strategies] };
    return { ...request(strategy), sweep: mark };
  }

  /** Waits for the run that blocks this one. @returns true if the cell should be tried again */
  private async waitForOtherRun(error: unknown, label: string): Promise<boolean> {
    const active = runActiveError(error);
    if (active === null) return false;
    this.bar.note(`${label}: waiting. ${active.message}`);
    return otherRunEnded(this.lab, active);
  }

  private result({ strategy, repeat, run }: SweepCell): SweepRun {
    const key = cellKey(strategy, repeat);
    const problem = run === null ? (this.problems.get(key) ?? "the run was not made") : null;
    return { strategy, repeat, document: run, problem, elapsedMs: this.elapsedMs.get(key) ?? null };
  }
}

/** True if the run finished with the expected verdict. */
export function isAsExpected({ document }: Pick<SweepRun, "document">): boolean {
  return document !== null && document.status === "finished" && document.verdict === document.expected;
}
