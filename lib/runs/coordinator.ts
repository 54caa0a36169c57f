import { randomUUID } from "node:crypto";
import type { ArmedFault } from "../faults/request";
import { env } from "../services/current-env";
import { isLostDatabase } from "../services/lost-database";
import { notArmable, planArmedFault } from "./arm-fault";
import { type CheckedRuns, checkedRuns } from "./checked-runs";
import type { ClosedRun } from "./close-run";
import type { RunDocument } from "./document";
import { engineLimitMs } from "./engines/limits";
import { FaultMeans } from "./fault-means";
import { LabError } from "./lab-error";
import { callNodes } from "./node-answers";
import { type ClaimedRun, claimRun, type OpenOptions, planRun, prepareRun, type RunPlan } from "./open-run";
import { OpenedRuns } from "./opened-runs";
import { deleteClaim, openerName, readRunning } from "./run-claim";
import { RunCloser } from "./run-closer";
import { RunDeadlines } from "./run-deadlines";
import { RunFaults } from "./run-faults";
import type { FinishRequest, RunRequest } from "./run-request";
import type { RunStage } from "./run-sample";
import * as store from "./run-store";
import { withVerdict } from "./run-verdict";
import { NOT_FINISHED, UnownedRuns } from "./unowned-runs";

/** How much longer the lab waits than the load generator's own limit, whose reason says more. */
const GRACE_MS = 30_000;
/** How long the client's report may take after the load is over. */
const REPORT_WAIT_MS = 10_000;
/** A run that ends between two attempts leaves the place to this one. */
const CLAIM_ATTEMPTS = 3;
/** Name of the retry that ends the run of an earlier process. */
const EARLIER_PROCESS = "earlier process";

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
  private readonly deadlines = new RunDeadlines();
  private readonly closer: RunCloser;
  private readonly openedBy = openerName(env().STORE_NODE, randomUUID());
  /** Runs that are being stopped: their load generator also finishes them, and must get the same document. */
  private readonly stopping = new Map<string, Promise<RunDocument>>();
  private readonly faults: RunFaults;
  private readonly opened: OpenedRuns;
  private readonly unowned: UnownedRuns;

  constructor(private readonly options: CoordinatorOptions) {
    this.faults = new RunFaults(options.nodes);
    const { nodes, checks = checkedRuns(), settleLimitMs, endLoad } = options;
    const onEndedElsewhere = (id: string) => {
      this.forget(id);
      endLoad?.(id);
    };
    this.opened = new OpenedRuns({ nodes, faults: this.faults, onEndedElsewhere });
    this.unowned = new UnownedRuns(nodes, this.openedBy, {
      discard: (id) => this.discard(id),
      finish: (id) => this.finish(id, { awaitClientReport: false }),
      finishAt: (id, deadlineAtEpochMs) => this.endWithoutReportAt(id, deadlineAtEpochMs),
      fail: (id, reason) => this.fail(id, reason),
    });
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
    this.opened.keepKey(id, claimed.assignment.runKey);
    try {
      const document = await prepareRun(claimed, this.options.nodes, { means, limitMs });
      this.deadlines.set(id, limitMs, () => this.fail(id, NOT_FINISHED));
      this.opened.start(document, { stage, stock: means.stock });
      await this.faults.start(document, claimed.faults, means);
      return document;
    } catch (error) {
      await this.discard(id);
      throw error;
    }
  }

  /** The load generator of a run opened here has started. */
  loadStarted(id: string): void {
    this.opened.loadStarted(id);
  }

  /** The value of `x-run-key` for a run's load; undefined if another process opened the run, or it has ended. */
  runKey(id: string): string | undefined {
    return this.opened.keyOf(id);
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
    const sellingMs = this.opened.sellingMs(id);
    const { document, planned } = planArmedFault(armed, {
      document: run.document,
      topology: run.means.topology,
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
    await this.unowned.endOfEarlierProcess(running, env().STORE_NODE);
  }

  /** Ends the running run if a store node opened it and no longer runs. */
  async endAbandonedRun(): Promise<void> {
    await this.unowned.endAbandoned();
  }

  /** Stops all timers and feeds. Running runs stay `running` in the database; the next start fails them. */
  async stop(): Promise<void> {
    this.deadlines.stop();
    await Promise.allSettled([this.faults.stop(), this.opened.stop()]);
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
      await this.unowned.endOverdue();
    }
    throw new LabError("run_active", "Another process is opening a run. Try again in a moment.");
  }

  /** Takes back a run that was not opened: no purchase belongs to it. */
  private async discard(id: string): Promise<void> {
    await callNodes(this.options.nodes, (node) => node.close(id));
    await this.untilEnded(id, async () => {
      await deleteClaim(id);
      this.forget(id);
    });
  }

  private close(document: RunDocument): Promise<ClosedRun> {
    this.opened.closing(document.id);
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
    await this.opened.stopFeed(id);
    const isFirst = await store.updateRunning(document);
    this.forget(id);
    return isFirst ? document : this.storedDocument(document);
  }

  /** Drops what this process keeps of a run that has ended. */
  private forget(id: string): void {
    this.opened.forget(id);
    this.deadlines.clear(id);
    void this.faults.forget(id);
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
