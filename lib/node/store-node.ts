import { metrics } from "../services/metrics";
import { clockName, nowNs } from "../services/monotonic";
import type { OperationTrace, StockDrift, StockStrategy, StockTarget } from "../stock/types";
import { resourceOf } from "../stock/types";
import { HolderPauses } from "./holder-pauses";
import { operationId } from "./process-instance";
import { type NodeRunStats, PurchaseMeter, RunFigures } from "./purchase-meter";
import { figuresOf, recordedOperations } from "./recorded-figures";
import { Recorder } from "./recorder";
import type { RunAssignment, RunPreparation } from "./run-assignment";
import type { Spool, SpooledRun } from "./spool";

/** Operations that a node keeps of one run. If a run has more, it is inconclusive. */
export const HISTORY_CAPACITY = 200_000;
/** Closed runs whose history a node still serves. */
const REMEMBERED_RUNS = 4;

export interface StoreNodeOptions {
  readonly name: string;
  readonly activeStrategy: string;
  /** Creates a strategy. @throws LockError if its server is not configured */
  readonly createStrategy: (id: string) => StockStrategy;
  readonly defaults: { readonly holdMs: number; readonly ttlMs: number; readonly waitTimeoutMs: number };
  /** Pauses that faults inject; the strategies must be created with `pauses.pass` as their failpoint. */
  readonly pauses?: HolderPauses;
  /** Capacity of each run's recorder. Default: `HISTORY_CAPACITY`. */
  readonly historyCapacity?: () => number;
  /** Keeps recorded operations for the next process instance of this node. Absent: a killed process loses them. */
  readonly spool?: Spool | undefined;
}

/** How the node serves one purchase: with the settings of the run that owns the target, or with the shop's. */
export interface PurchasePlan {
  /** `resourceOf` the target. */
  readonly resource: string;
  readonly strategy: StockStrategy;
  readonly run: ActiveRun | null;
  /** The run's meter, or the shop's. */
  readonly meter: PurchaseMeter;
  readonly holdMs: number;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** Whether writes check fencing tokens. */
  readonly fencing: boolean;
}

export interface ActiveRun {
  readonly assignment: RunAssignment;
  readonly meter: PurchaseMeter;
  readonly figures: RunFigures;
  readonly recorder: Recorder;
  /** What earlier process instances of this node recorded; its figures are part of `figures`. */
  readonly spooled: SpooledRun | null;
  closed: boolean;
}

/**
 * The state of one store node: its active strategy, the runs it serves, and what it measured of them.
 * It creates a strategy at first use and keeps it until the process ends.
 */
export class StoreNode {
  readonly name: string;
  private activeId: string;
  private readonly strategies = new Map<string, StockStrategy>();
  private readonly runs = new Map<string, ActiveRun>();
  private readonly runByResource = new Map<string, ActiveRun>();
  /** Resource -> ID of the run that closed here last and may still await its verdict. */
  private readonly awaitingVerdict = new Map<string, string>();
  private readonly shopMeter: PurchaseMeter;
  private operations = 0;
  readonly pauses: HolderPauses;

  constructor(private readonly options: StoreNodeOptions) {
    this.name = options.name;
    this.pauses = options.pauses ?? new HolderPauses();
    this.activeId = options.activeStrategy;
    this.shopMeter = new PurchaseMeter(metrics(), null);
    options.spool?.keepNewest(REMEMBERED_RUNS);
  }

  get activeStrategy(): string {
    return this.activeId;
  }

  /** @throws Error if the strategy is unknown or its server is not configured; the active strategy then stays the same */
  switchStrategy(id: string): void {
    this.strategy(id);
    this.activeId = id;
  }

  strategy(id: string): StockStrategy {
    const known = this.strategies.get(id);
    if (known) return known;
    const created = this.options.createStrategy(id);
    this.strategies.set(id, created);
    return created;
  }

  /** Lets a strategy that keeps its own stock count load it. Strategies that sell from PostgreSQL's row need no preparation. */
  async prepare({ strategy, target, stock }: RunPreparation): Promise<void> {
    await this.strategy(strategy).prepare?.(target, stock);
  }

  /** Assigns a run to this node: from now on, purchases of its target belong to the run. Idempotent. */
  assign(assignment: RunAssignment): void {
    if (this.runs.has(assignment.runId)) return;
    this.strategy(assignment.strategy);
    const capacity = this.options.historyCapacity?.() ?? HISTORY_CAPACITY;
    const spooled = this.options.spool?.recover(assignment.runId) ?? null;
    const figures = spooled ? figuresOf(recordedOperations(spooled.ndjson)) : new RunFigures();
    const recorder = new Recorder({ node: this.name, host: clockName(), capacity });
    recorder.spool = this.options.spool?.open(assignment.runId, recorder) ?? null;
    const run: ActiveRun = {
      assignment,
      meter: new PurchaseMeter(metrics(), figures),
      figures,
      recorder,
      spooled,
      closed: false,
    };
    this.runs.set(assignment.runId, run);
    this.runByResource.set(resourceOf(assignment.target), run);
    this.awaitingVerdict.delete(resourceOf(assignment.target));
    this.forgetOldRuns();
  }

  /** Closes a run on this node: purchases in flight still belong to it, new ones do not. @returns false if it is unknown */
  close(runId: string): boolean {
    const run = this.runs.get(runId);
    if (!run) return false;
    run.closed = true;
    this.pauses.disarm(runId);
    const resource = resourceOf(run.assignment.target);
    if (this.runByResource.get(resource) === run) {
      this.runByResource.delete(resource);
      this.awaitingVerdict.set(resource, runId);
      this.forgetOldestAwaiting();
    }
    return true;
  }

  /** ID of the closed run that sold this target last, unless its verdict is known. */
  runAwaitingVerdict(target: StockTarget): string | null {
    return this.awaitingVerdict.get(resourceOf(target)) ?? null;
  }

  forgetAwaitingVerdict(target: StockTarget): void {
    this.awaitingVerdict.delete(resourceOf(target));
  }

  run(runId: string): ActiveRun | undefined {
    return this.runs.get(runId);
  }

  /** The operations that this and earlier process instances of the node recorded, as NDJSON; undefined if the run is unknown. */
  history(runId: string): Iterable<string> | undefined {
    const run = this.runs.get(runId);
    return run && ndjsonOf(run);
  }

  /** Compares the stock count that a run's strategy keeps elsewhere with PostgreSQL's row; null if it keeps none. */
  async drift(runId: string): Promise<StockDrift | null> {
    const assignment = this.runs.get(runId)?.assignment;
    return (assignment && (await this.strategy(assignment.strategy).drift?.(assignment.target))) ?? null;
  }

  /** Call once per purchase, after parsing: every later step takes the plan as an argument. */
  plan(target: StockTarget): PurchasePlan {
    const resource = resourceOf(target);
    const run = this.runByResource.get(resource) ?? null;
    const meter = run?.meter ?? this.shopMeter;
    const strategy = this.strategy(run?.assignment.strategy ?? this.activeId);
    const { holdMs, ttlMs, waitTimeoutMs } = run?.assignment ?? this.options.defaults;
    return { resource, strategy, run, meter, holdMs, ttlMs, waitTimeoutMs, fencing: run?.assignment.fencing ?? true };
  }

  /** False if a run of the target started or ended after the plan was made. */
  isCurrent({ resource, run }: PurchasePlan): boolean {
    return (this.runByResource.get(resource) ?? null) === run;
  }

  newTrace(): OperationTrace {
    this.operations += 1;
    return { opId: operationId(this.name, this.operations), invokedNs: nowNs() };
  }

  stats(runId: string): NodeRunStats | undefined {
    const run = this.runs.get(runId);
    if (!run) return undefined;
    return {
      node: this.name,
      runId,
      counts: { ...run.figures.counts },
      inFlight: run.meter.inFlight,
      waiters: run.meter.countWaiters(),
      peakInFlight: run.figures.peakInFlight,
      recorded: run.recorder.size,
      dropped: run.recorder.dropped,
      incompleteInstances: run.spooled?.incomplete ?? 0,
      histograms: run.figures.encode(),
    };
  }

  /** Purchases on this node that are waiting for their lock. */
  countWaiters(): number {
    let waiters = this.shopMeter.countWaiters();
    for (const { meter } of this.runs.values()) waiters += meter.countWaiters();
    return waiters;
  }

  private forgetOldestAwaiting(): void {
    for (const oldest of this.awaitingVerdict.keys()) {
      if (this.awaitingVerdict.size <= REMEMBERED_RUNS) return;
      this.awaitingVerdict.delete(oldest);
    }
  }

  private forgetOldRuns(): void {
    for (const [runId, run] of this.runs) {
      if (this.runs.size <= REMEMBERED_RUNS) return;
      if (!run.closed || run.meter.inFlight > 0) continue;
      this.runs.delete(runId);
      this.pauses.forget(runId);
      void run.recorder.spool?.stop().then(() => this.options.spool?.forget(runId));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.runs.values()].map(({ recorder }) => recorder.spool?.end()));
    await Promise.allSettled([...this.strategies.values()].map((strategy) => strategy[Symbol.asyncDispose]()));
    this.strategies.clear();
  }
}

function* ndjsonOf({ spooled, recorder }: ActiveRun): Generator<string> {
  if (spooled) yield spooled.ndjson;
  for (const line of recorder.lines()) yield `${JSON.stringify(line)}\n`;
}
