import { randomUUID } from "node:crypto";
import type { ArmedFault } from "../faults/request";
import { env } from "../services/current-env";
import { isLostDatabase } from "../services/lost-database";
import { goneOpener } from "./abandoned-run";
import { notArmable, planArmedFault } from "./arm-fault";
import { type CheckedRuns, checkedRuns } from "./checked-runs";
import { type ClosedRun, isClosed } from "./close-run";
import type { RunDocument } from "./document";
import { engineLimitMs } from "./engines/limits";
import { FaultMeans } from "./fault-means";
import { LabError } from "./lab-error";
import { callNodes } from "./node-answers";
import { type ClaimedRun, claimRun, type OpenOptions, planRun, prepareRun, type RunPlan } from "./open-run";
import { deleteClaim, openerName, type RunningRun, readRunning } from "./run-claim";
import { RunCloser } from "./run-closer";
import { RunDeadlines } from "./run-deadlines";
import { RunFaults } from "./run-faults";
import type { FinishRequest, RunRequest } from "./run-request";
import type { RunStage } from "./run-sample";
import * as store from "./run-store";
import { withVerdict } from "./run-verdict";
import { type RunState, Sampler } from "./sampler";

/** How much longer the lab waits than the load generator's own limit, whose reason says more. */
const GRACE_MS = 30_000;
/** How long the client's report may take after the load is over. */
const REPORT_WAIT_MS = 10_000;
/** A run that ends between two attempts leaves the place to this one. */
const CLAIM_ATTEMPTS = 3;
/** Name of the retry that ends the run of an earlier process. */
const EARLIER_PROCESS = "earlier process";
const NOT_FINISHED = "The load generator did not finish the run in time.";

export interface CoordinatorOptions extends OpenOptions {
  /** Absent: the checked runs of this process. */
  readonly checks?: CheckedRuns;
  /** Ends the load of a run opened here that another process has ended. Absent: this process starts no load. */
  readonly endLoad?: (id: string) => void;
  /** How long to wait for a counter outside PostgreSQL to settle. Absent: `SETTLE_LIMIT_MS`. */
  readonly settleLimitMs?: number;
}

/**
 * Opens, closes and ends runs. The state of a run is in PostgreSQL, so any process can finish a run that another process
 * opened. This process keeps the live feed, the key and the deadline of the runs that it opened.
 */
export class Coordinator {
  private readonly samplers = new Map<string, Sampler>();
  /** Stages of the runs opened here, as far as they are not seen in the figures of the nodes. */
  private readonly stages = new Map<string, RunStage>();
  private readonly deadlines = new RunDeadlines();
  /** Keys of the runs opened here. They are secret and documents are public, so they are not in the documents. */
  private readonly keys = new Map<string, string>();
  private readonly closer: RunCloser;
  private readonly openedBy = openerName(env().STORE_NODE, randomUUID());
  /** Runs that are being stopped: their load generator also finishes them, and must get the same document. */
  private readonly stopping = new Map<string, Promise<RunDocument>>();
  private readonly faults: RunFaults;

  constructor(private readonly options: CoordinatorOptions) {
    this.faults = new RunFaults(options.nodes);
    const { nodes, checks = checkedRuns(), settleLimitMs } = options;
    this.closer = new RunCloser({ nodes, checks, faults: this.faults, settleLimitMs });
  }

  /** @throws LabError `run_active`, `unknown_strategy`, `strategy_unavailable`, `target_not_found`, `node_unavailable`, `too_many_nodes`, `invalid_fault`, `fault_not_applicable` */
  async open(request: RunRequest): Promise<RunDocument> {
    const planned = planRun(request, this.options);
    const means = await FaultMeans.open(planned.faults);
    const plan = { ...planned, ...means.routes };
    try {
      return await this.openClaimed(await this.claim(request, plan), {
        means,
        stage: request.launch ? "generator" : "doors",
      });
    } catch (error) {
      await means[Symbol.asyncDispose]();
      throw error;
    }
  }

  private async openClaimed(claimed: ClaimedRun, { means, stage }: OpeningRun): Promise<RunDocument> {
    const { id, config } = claimed.document;
    const limitMs = engineLimitMs(config) + GRACE_MS;
    this.keys.set(id, claimed.assignment.runKey);
    try {
      const document = await prepareRun(claimed, this.options.nodes, limitMs);
      this.deadlines.set(id, limitMs, () => this.fail(id, NOT_FINISHED));
      this.stages.set(id, stage);
      this.startSampler(document);
      await this.faults.start(document, claimed.faults, means);
      return document;
    } catch (error) {
      await this.discard(id);
      throw error;
    }
  }

  /** The load generator of a run opened here has started. */
  loadStarted(id: string): void {
    if (this.stages.get(id) === "generator") this.stages.set(id, "doors");
  }

  /** The value of `x-run-key` for a run's load; undefined if another process opened the run, or it has ended. */
  runKey(id: string): string | undefined {
    return this.keys.get(id);
  }

  /**
   * Ends a run's load. The first call closes, checks and measures the run. With `awaitClientReport` the run then stays
   * `running`, with a provisional verdict, until a second call brings the client's report. A run that has ended does not change.
   * If PostgreSQL does not answer, the call fails and this process repeats it until the run has ended.
   * @throws LabError `run_not_found`
   */
  finish(id: string, input: FinishInput): Promise<RunDocument> {
    return this.untilEnded(id, () => this.finishOnce(id, input));
  }

  private async finishOnce(id: string, { client = null, awaitClientReport }: FinishInput): Promise<RunDocument> {
    const stopping = this.stopping.get(id);
    if (stopping) return stopping;
    const stored = await this.knownRun(id);
    if (stored.document.status !== "running") return stored.document;
    const closed = await this.close(stored.document);
    const document = withVerdict(closed, client);
    if (!client && awaitClientReport) return this.awaitReport(document);
    return this.end({ ...document, status: "finished" });
  }

  /**
   * Ends a run before its load is complete. What was recorded until then is checked; the verdict is `unsafe` or `inconclusive`.
   * A run that has ended does not change. @throws LabError `run_not_found`
   */
  stopRun(id: string): Promise<RunDocument> {
    const known = this.stopping.get(id);
    if (known) return known;
    const stopping = this.endEarly(id).finally(() => this.stopping.delete(id));
    this.stopping.set(id, stopping);
    return stopping;
  }

  /**
   * Injects one more fault into a run in progress.
   * @throws LabError `run_not_found`, `run_not_running`, `invalid_fault`, `fault_not_applicable`
   */
  async armFault(id: string, armed: ArmedFault): Promise<RunDocument> {
    const { document: stored } = await this.knownRun(id);
    const run = stored.status === "running" ? this.faults.armable(id) : null;
    if (!run) throw notArmable(stored);
    const nodeNames = this.options.nodes.slice(0, stored.config.nodes).map(({ address }) => address.name);
    const sellingMs = this.samplers.get(id)?.sellingMs ?? 0;
    const { document, planned } = planArmedFault(armed, {
      document: run.document,
      proxies: run.means.proxies,
      nodeNames,
      sellingMs,
    });
    this.faults.arm(document, planned, armed.inMs ?? 0);
    await store.storeFaults(document);
    return document;
  }

  /** Ends a run as failed. If PostgreSQL does not answer, this process repeats it until the run has ended. */
  fail(id: string, reason: string): Promise<void> {
    return this.untilEnded(id, () => this.failOnce(id, reason));
  }

  /** Ends a run whose load generator died, unless the load's end was reported before and only waits for PostgreSQL. */
  async failLoad(id: string, reason: string): Promise<void> {
    if (!this.deadlines.isRetrying(id)) await this.fail(id, reason);
  }

  private async failOnce(id: string, reason: string): Promise<void> {
    // Stopping a run also ends its load generator, which is then no failure.
    await this.stopping.get(id)?.catch(() => {});
    const stored = await store.readStoredRun(id);
    if (stored?.document.status !== "running") return;
    const { document } = stored;
    const measured = await this.close(document).then(
      (closed) => withVerdict(closed, null),
      (error: Error) => unmeasured(document, error),
    );
    await this.end({ ...measured, status: "failed", sentences: [reason, ...measured.sentences] });
  }

  private async untilEnded<T>(id: string, end: () => Promise<T>): Promise<T> {
    try {
      return await end();
    } catch (error) {
      if (isLostDatabase(error)) this.deadlines.retry(id, end, error as Error);
      throw error;
    }
  }

  /**
   * Fails the run that an earlier process of this name left running: its load ended with it. A run that was closed already only
   * lacks the client's report, so it keeps its deadline for that. Called once, when the process starts: if PostgreSQL does not
   * answer, this process repeats it.
   */
  failOrphanedRun(): Promise<void> {
    return this.untilEnded(EARLIER_PROCESS, () => this.failOrphan());
  }

  private async failOrphan(): Promise<void> {
    const running = await readRunning();
    this.deadlines.clear(EARLIER_PROCESS);
    const name = env().STORE_NODE;
    if (running === null || running.openedBy === this.openedBy || !running.openedBy.startsWith(openerName(name, "")))
      return;
    const { document, phase, deadlineAtEpochMs } = running;
    if (phase === "preparing") await this.discard(document.id);
    else if (isClosed(document)) this.endWithoutReportAt(document.id, deadlineAtEpochMs);
    else await this.fail(document.id, `The ${name} process restarted during the run.`);
  }

  /** Ends the running run if a store node opened it and no longer runs. */
  async endAbandonedRun(): Promise<void> {
    const running = await readRunning();
    if (running !== null) await this.endIfAbandoned(running);
  }

  /** @returns false if the opener may still run */
  private async endIfAbandoned(running: RunningRun): Promise<boolean> {
    const opener = await goneOpener(running, this.options.nodes);
    if (opener !== null) await this.endUnowned(running, `${opener} opened the run and no longer runs.`);
    return opener !== null;
  }

  private async endUnowned({ document, phase }: RunningRun, reason: string): Promise<void> {
    const { id } = document;
    if (phase === "preparing") await this.discard(id);
    else if (isClosed(document)) await this.finish(id, { awaitClientReport: false });
    else await this.fail(id, reason);
  }

  /** Stops all timers and feeds. Running runs stay `running` in the database; the next start fails them. */
  async stop(): Promise<void> {
    const samplers = [...this.samplers.values()];
    this.samplers.clear();
    this.deadlines.stop();
    await Promise.allSettled([this.faults.stop(), ...samplers.map((sampler) => sampler.stop())]);
  }

  private async endEarly(id: string): Promise<RunDocument> {
    const { document } = await this.knownRun(id);
    if (document.status !== "running") return document;
    const closed = await this.close(document);
    return this.end(withVerdict({ ...closed, document: { ...closed.document, status: "stopped" } }, null));
  }

  private async knownRun(id: string): Promise<store.StoredRun> {
    const stored = await store.readStoredRun(id);
    if (!stored) throw new LabError("run_not_found", `There is no run ${id}.`);
    return stored;
  }

  /** Claims the lab's one run. Ends a run that is overdue, or whose opener is gone. */
  private async claim(request: RunRequest, plan: RunPlan): Promise<ClaimedRun> {
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
      const claimed = await claimRun(request, plan, { ...this.options, openedBy: this.openedBy });
      if (claimed) return claimed;
      await this.endUnownedRun();
    }
    throw new LabError("run_active", "Another process is opening a run. Try again in a moment.");
  }

  /** @throws LabError `run_active` if a run is running, not overdue, and its opener may still run */
  private async endUnownedRun(): Promise<void> {
    const running = await readRunning();
    if (!running) return;
    const { document, phase, deadlineAtEpochMs } = running;
    const { id } = document;
    if (Date.now() > deadlineAtEpochMs) await this.endUnowned(running, NOT_FINISHED);
    else if (!(await this.endIfAbandoned(running))) {
      const state = phase === "preparing" ? "being opened" : "still running";
      throw new LabError("run_active", `Run ${id} is ${state}.`, { runId: id });
    }
  }

  /** Takes back a run that was not opened: no purchase belongs to it. */
  private async discard(id: string): Promise<void> {
    this.keys.delete(id);
    await callNodes(this.options.nodes, (node) => node.close(id));
    await this.untilEnded(id, async () => {
      await deleteClaim(id);
      this.forget(id);
    });
  }

  private startSampler(document: RunDocument): void {
    const { id } = document;
    const { stages, faults } = this;
    const state: RunState = {
      get stage() {
        return stages.get(id) ?? "doors";
      },
      liveFaults: (lateNodes) => faults.live(id, lateNodes),
      onEnded: () => {
        this.forget(id);
        this.options.endLoad?.(id);
      },
    };
    const sampler = new Sampler(document, this.options.nodes, state);
    this.samplers.set(id, sampler);
    sampler.start();
  }

  private close(document: RunDocument): Promise<ClosedRun> {
    if (this.stages.has(document.id)) this.stages.set(document.id, "closing");
    return this.closer.close(document);
  }

  private async awaitReport(document: RunDocument): Promise<RunDocument> {
    const deadlineAtEpochMs = Date.now() + REPORT_WAIT_MS;
    if (!(await store.updateRunning(document, deadlineAtEpochMs))) return this.storedDocument(document);
    this.endWithoutReportAt(document.id, deadlineAtEpochMs);
    return document;
  }

  private endWithoutReportAt(id: string, deadlineAtEpochMs: number): void {
    const waitMs = Math.min(REPORT_WAIT_MS, Math.max(0, deadlineAtEpochMs - Date.now()));
    this.deadlines.set(id, waitMs, () => this.finish(id, { awaitClientReport: false }));
  }

  private async end(document: RunDocument): Promise<RunDocument> {
    const { id } = document;
    await this.samplers.get(id)?.stop();
    const isFirst = await store.updateRunning(document);
    this.forget(id);
    return isFirst ? document : this.storedDocument(document);
  }

  /** Drops what this process keeps of a run that has ended. */
  private forget(id: string): void {
    this.samplers.delete(id);
    this.deadlines.clear(id);
    void this.faults.forget(id);
    this.stages.delete(id);
    this.keys.delete(id);
    this.closer.forget(id);
  }

  /** The stored document, if another call or process ended the run first. */
  private async storedDocument(document: RunDocument): Promise<RunDocument> {
    return (await store.readStoredRun(document.id))?.document ?? document;
  }
}

/** @throws the error if a retry may measure the run */
function unmeasured(document: RunDocument, error: Error): RunDocument {
  if (isLostDatabase(error)) throw error;
  return { ...document, sentences: [`The run could not be measured: ${error.message}`] };
}

interface OpeningRun {
  readonly means: FaultMeans;
  readonly stage: RunStage;
}

type FinishInput = Pick<FinishRequest, "awaitClientReport"> & { readonly client?: FinishRequest["client"] | null };
