import { setTimeout as delay } from "node:timers/promises";
import { log } from "../services/log";
import { settingText } from "../services/number-text";
import type { RunDocument } from "./document";
import { engineLimitMs } from "./engines/limits";
import { isLabError, LabError } from "./lab-error";
import type { RunRequest } from "./run-request";
import { cellKey, nextStep, type SweepCell, type SweepPlan, type SweepProgress } from "./sweep";

/** What a sweep needs of the lab. */
export interface SweepLab {
  open(request: RunRequest): Promise<RunDocument>;
  /** Null if the run does not exist. */
  read(runId: string): Promise<RunDocument | null>;
  stop(runId: string): Promise<unknown>;
  cells(plan: SweepPlan): Promise<readonly SweepCell[]>;
}

export interface SweepJob {
  readonly plan: SweepPlan;
  readonly request: (strategy: string) => Omit<RunRequest, "sweep">;
}

interface ActiveSweep {
  readonly job: SweepJob;
  readonly startedAtEpochMs: number;
  readonly cancelled: AbortController;
  /** The run under way. */
  runId: string | null;
  readonly skipped: Set<string>;
  readonly problems: string[];
  readonly finishedMs: number[];
  remaining: number;
}

const POLL_MS = 500;
/** Time to close and check a run, beyond the engine's own limit. */
const CLOSING_MS = 60_000;
/** How long a sweep waits for a run that another person or command opened. */
const OTHER_RUN_LIMIT_MS = 15 * 60_000;

/**
 * Makes the runs of one sweep after the other, in the process that it was started in. The runs are the sweep's only stored state: if
 * the process ends, the sweep can be resumed.
 */
export class SweepRunner {
  #active: ActiveSweep | null = null;

  constructor(
    private readonly lab: SweepLab,
    private readonly pollMs = POLL_MS,
  ) {}

  /** @throws LabError `sweep_active` */
  start(job: SweepJob): void {
    if (this.#active) {
      const { id } = this.#active.job.plan;
      throw new LabError("sweep_active", `Sweep ${id} is active. Wait until it ends, or cancel it.`, { sweepId: id });
    }
    const active: ActiveSweep = {
      job,
      startedAtEpochMs: Date.now(),
      cancelled: new AbortController(),
      runId: null,
      skipped: new Set(),
      problems: [],
      finishedMs: [],
      remaining: job.plan.strategies.length * job.plan.repeats,
    };
    this.#active = active;
    void this.#makeRuns(active)
      .catch((error: Error) => log().error({ sweepId: job.plan.id, err: error }, "the sweep ended early"))
      .finally(() => {
        this.#active = null;
      });
  }

  /** Ends a sweep, and its current run. @returns false if the sweep is not active in this process */
  async cancel(id: string): Promise<boolean> {
    const active = this.#active;
    if (active?.job.plan.id !== id) return false;
    active.cancelled.abort();
    if (active.runId !== null) await this.lab.stop(active.runId);
    return true;
  }

  /** Starts no further run. The current run is left to the process that ends. */
  shutDown(): void {
    this.#active?.cancelled.abort();
  }

  /** The active sweep of this process; null if there is none. */
  get active(): ({ readonly plan: SweepPlan; readonly startedAtEpochMs: number } & SweepProgress) | null {
    if (this.#active === null) return null;
    const { job, startedAtEpochMs, finishedMs, remaining, problems } = this.#active;
    const meanMs = finishedMs.reduce((sum, ms) => sum + ms, 0) / finishedMs.length;
    const remainingMs = finishedMs.length === 0 ? null : Math.round(meanMs * remaining);
    return { plan: job.plan, startedAtEpochMs, remainingMs, problems: [...problems] };
  }

  async #makeRuns(active: ActiveSweep): Promise<void> {
    const { job, cancelled, skipped } = active;
    while (!cancelled.signal.aborted) {
      const cells = await this.lab.cells(job.plan);
      active.remaining = cells.filter(
        ({ strategy, repeat, run }) => run?.status !== "finished" && !skipped.has(cellKey(strategy, repeat)),
      ).length;
      const step = nextStep(cells, skipped);
      if (step.kind === "complete") return;
      await this.#make(active, step.cell, step.kind === "follow" ? step.run : null);
    }
  }

  async #make(active: ActiveSweep, cell: SweepCell, running: RunDocument | null): Promise<void> {
    const { strategy, repeat } = cell;
    const startedMs = performance.now();
    try {
      const run = running ?? (await this.#open(active, cell));
      if (run === null) return;
      active.runId = run.id;
      // Cancelled while the run was being opened: the cancel has not seen it.
      if (active.cancelled.signal.aborted) await this.lab.stop(run.id);
      const { status, sentences } = await this.#ended(run);
      if (status === "finished") active.finishedMs.push(performance.now() - startedMs);
      else throw new Error(sentences[0] ?? `the run is ${status}`);
    } catch (error) {
      active.skipped.add(cellKey(strategy, repeat));
      active.problems.push(`${strategy}, run ${repeat}: ${(error as Error).message}`);
    } finally {
      active.runId = null;
    }
  }

  /** @returns null if the sweep was cancelled before the run could be opened */
  async #open({ job, cancelled }: ActiveSweep, { strategy, repeat }: SweepCell): Promise<RunDocument | null> {
    const { id, repeats, strategies } = job.plan;
    const sweep = { id, repeat, repeats, strategies: [...strategies] };
    const giveUpAtMs = performance.now() + OTHER_RUN_LIMIT_MS;
    while (!cancelled.signal.aborted) {
      try {
        return await this.lab.open({ ...job.request(strategy), sweep });
      } catch (error) {
        const isBusy = isLabError(error) && error.code === "run_active";
        if (!isBusy || performance.now() > giveUpAtMs) throw error;
        await this.#pause(cancelled.signal);
      }
    }
    return null;
  }

  /** Also waits for a run that a cancel stops. @throws Error if the run does not end in time */
  async #ended({ id, config }: RunDocument): Promise<RunDocument> {
    const limitMs = engineLimitMs(config) + CLOSING_MS;
    const giveUpAtMs = performance.now() + limitMs;
    while (performance.now() < giveUpAtMs) {
      // The database may be away for a moment.
      const document = await this.lab.read(id).catch(() => null);
      if (document !== null && document.status !== "running") return document;
      await this.#pause();
    }
    throw new Error(`the run did not end within ${settingText(limitMs)}`);
  }

  async #pause(signal?: AbortSignal): Promise<void> {
    await delay(this.pollMs, undefined, { ref: false, ...(signal ? { signal } : {}) }).catch(() => {});
  }
}
