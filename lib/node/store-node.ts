import { metrics } from "../services/metrics";
import { clockName, nowNs } from "../services/monotonic";
import type { OperationTrace, StockDrift, StockStrategy, StockTarget } from "../stock/types";
import { resourceOf } from "../stock/types";
import { HolderPauses } from "./holder-pauses";
import { type NodeRunStats, PurchaseMeter, RunFigures } from "./purchase-meter";
import { Recorder } from "./recorder";
import type { RunAssignment, RunPreparation } from "./run-assignment";

/** Operations kept a run and node; past it the run is inconclusive. */
export const HISTORY_CAPACITY = 200_000;
/** Runs a node remembers after they were closed, so that a late reader still gets their history. */
const REMEMBERED_RUNS = 4;

/** This life of the process, so that operations of one that ended are told from ours: in a container each has the same pid. */
const PROCESS_LIFE = `${process.pid}.${Math.round(performance.timeOrigin).toString(36)}`;

const LIFE_AND_NUMBER = /^(\d+\.[0-9a-z]+)-\d+$/;

/** Whether an operation of a node of this name was started by a process that is not this one. */
export function isOfFormerLife(node: string, opId: string): boolean {
  const [, life] = opId.startsWith(`${node}-`) ? (LIFE_AND_NUMBER.exec(opId.slice(node.length + 1)) ?? []) : [];
  return life !== undefined && life !== PROCESS_LIFE;
}

export interface StoreNodeOptions {
  readonly name: string;
  readonly activeStrategy: string;
  /** Makes a strategy; throws when its server is not configured. */
  readonly createStrategy: (id: string) => StockStrategy;
  readonly defaults: { readonly holdMs: number; readonly ttlMs: number; readonly waitTimeoutMs: number };
  /** Where its holders are stopped, if the strategies it makes pass by there. */
  readonly pauses?: HolderPauses;
  /** Room in a run's recorder, asked for each run; absent: `HISTORY_CAPACITY`. Without room no run is ever called safe. */
  readonly historyCapacity?: () => number;
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
  /** Whether fencing tokens are checked. */
  readonly fencing: boolean;
}

export interface ActiveRun {
  readonly assignment: RunAssignment;
  readonly meter: PurchaseMeter;
  readonly figures: RunFigures;
  readonly recorder: Recorder;
  closed: boolean;
}

/**
 * The state of one store node: which strategy is active, which runs it serves, what it measured of them.
 * Strategies are made at first use and kept until the process ends.
 */
export class StoreNode {
  readonly name: string;
  private activeId: string;
  private readonly strategies = new Map<string, StockStrategy>();
  private readonly runs = new Map<string, ActiveRun>();
  private readonly runByResource = new Map<string, ActiveRun>();
  /** By resource the run that was closed here last, as long as it may not have been judged. */
  private readonly unjudged = new Map<string, string>();
  private readonly shopMeter: PurchaseMeter;
  private operations = 0;
  readonly pauses: HolderPauses;

  constructor(private readonly options: StoreNodeOptions) {
    this.name = options.name;
    this.pauses = options.pauses ?? new HolderPauses();
    this.activeId = options.activeStrategy;
    this.shopMeter = new PurchaseMeter(metrics(), null);
  }

  get activeStrategy(): string {
    return this.activeId;
  }

  /** @throws when the strategy is unknown or its server is not configured; the active one then stays */
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

  /** Has a strategy put a target's stock where it keeps it; nothing to do for those that sell from PostgreSQL's row. */
  async prepare({ strategy, target, stock }: RunPreparation): Promise<void> {
    await this.strategy(strategy).prepare?.(target, stock);
  }

  /** Takes a run on; from now on purchases of its target follow it. Repeating it changes nothing. */
  assign(assignment: RunAssignment): void {
    if (this.runs.has(assignment.runId)) return;
    this.strategy(assignment.strategy);
    const figures = new RunFigures();
    const run: ActiveRun = {
      assignment,
      meter: new PurchaseMeter(metrics(), figures),
      figures,
      recorder: new Recorder({
        node: this.name,
        host: clockName(),
        capacity: this.options.historyCapacity?.() ?? HISTORY_CAPACITY,
      }),
      closed: false,
    };
    this.runs.set(assignment.runId, run);
    this.runByResource.set(resourceOf(assignment.target), run);
    this.unjudged.delete(resourceOf(assignment.target));
    this.forgetOldRuns();
  }

  /** Ends a run on this node: new purchases of its target no longer count for it; those in flight still do. */
  close(runId: string): boolean {
    const run = this.runs.get(runId);
    if (!run) return false;
    run.closed = true;
    this.pauses.disarm(runId);
    const resource = resourceOf(run.assignment.target);
    if (this.runByResource.get(resource) === run) {
      this.runByResource.delete(resource);
      this.unjudged.set(resource, runId);
      for (const oldest of this.unjudged.keys()) if (this.unjudged.size > REMEMBERED_RUNS) this.unjudged.delete(oldest);
    }
    return true;
  }

  /** The run that sold this target and was closed, unless it is known to have been judged. */
  unjudgedRun(target: StockTarget): string | null {
    return this.unjudged.get(resourceOf(target)) ?? null;
  }

  noteJudged(target: StockTarget): void {
    this.unjudged.delete(resourceOf(target));
  }

  run(runId: string): ActiveRun | undefined {
    return this.runs.get(runId);
  }

  /** What a run's strategy counts outside of PostgreSQL, beside the row; null when it does not. */
  async drift(runId: string): Promise<StockDrift | null> {
    const assignment = this.runs.get(runId)?.assignment;
    return (assignment && (await this.strategy(assignment.strategy).drift?.(assignment.target))) ?? null;
  }

  /** Called once per purchase, after parsing; every later step takes the plan as an argument. */
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
    return { opId: `${this.name}-${PROCESS_LIFE}-${this.operations}`, invokedNs: nowNs() };
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
      histograms: run.figures.encode(),
    };
  }

  /** Purchases on this node that are waiting for their lock. */
  countWaiters(): number {
    let waiters = this.shopMeter.countWaiters();
    for (const { meter } of this.runs.values()) waiters += meter.countWaiters();
    return waiters;
  }

  private forgetOldRuns(): void {
    for (const [runId, run] of this.runs) {
      if (this.runs.size <= REMEMBERED_RUNS) return;
      if (!run.closed || run.meter.inFlight > 0) continue;
      this.runs.delete(runId);
      this.pauses.forget(runId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.strategies.values()].map((strategy) => strategy[Symbol.asyncDispose]()));
    this.strategies.clear();
  }
}
