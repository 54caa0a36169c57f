import { metrics } from "../services/metrics";
import { clockName, nowNs } from "../services/monotonic";
import type { OperationTrace, Reconciliation, StockDrift, StockStrategy, StockTarget } from "../stock/types";
import { resourceOf } from "../stock/types";
import { type ArmedStop, NodeStops, type StopOutcome } from "./node-stops";
import { NodeStrategies, type NodeStrategiesOptions } from "./node-strategies";
import { operationId } from "./process-instance";
import { type NodeRunStats, PurchaseMeter, RunFigures } from "./purchase-meter";
import { figuresOf, recordedOperations } from "./recorded-figures";
import { Recorder } from "./recorder";
import { type RunAssignment, type RunPreparation, routesOf } from "./run-assignment";
import { type ActiveRun, RunRegistry } from "./run-registry";
import type { Spool } from "./spool";

/** Operations that a node keeps of one run. If a run has more, it is inconclusive. */
export const HISTORY_CAPACITY = 200_000;
/** Runs whose spool a node keeps when it starts: only the newest can still be running. */
const SPOOLED_RUNS = 4;

export interface StoreNodeOptions extends NodeStrategiesOptions {
  readonly name: string;
  readonly defaults: { readonly holdMs: number; readonly ttlMs: number; readonly waitTimeoutMs: number };
  /** Stops of this process that faults inject; the strategies must be created with its failpoints. */
  readonly stops?: NodeStops;
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

/** The state of one store node: its strategies, the runs it serves, and what it measured of them. */
export class StoreNode {
  readonly name: string;
  private readonly strategies: NodeStrategies;
  private readonly runs = new RunRegistry((run) => this.release(run));
  private readonly shopMeter: PurchaseMeter;
  private operations = 0;
  /** False after the start until the node knows which runs are in progress: it might sell a run's row as the shop. */
  knowsRuns = true;
  readonly stops: NodeStops;

  constructor(private readonly options: StoreNodeOptions) {
    this.name = options.name;
    this.stops = options.stops ?? new NodeStops();
    this.stops.keep = (runId, outcomes) => this.keepLastWords(runId, outcomes);
    this.strategies = new NodeStrategies(options);
    this.shopMeter = new PurchaseMeter(metrics(), null);
    options.spool?.keepNewest(SPOOLED_RUNS);
  }

  get activeStrategy(): string {
    return this.strategies.activeId;
  }

  /** @throws Error if the strategy is unknown or its server is not configured; the active strategy then stays the same */
  switchStrategy(id: string): void {
    this.strategies.activate(id);
  }

  strategy(id: string): StockStrategy {
    return this.strategies.get(id);
  }

  /** Lets a strategy that keeps its own stock count load it. Strategies that sell from PostgreSQL's row need no preparation. */
  async prepare(runId: string, { strategy, target, stock }: RunPreparation): Promise<void> {
    // The strategy of a run can have its own clients, which lead to another database.
    const prepared = this.runs.get(runId)?.clients.strategy ?? this.strategy(strategy);
    await prepared.prepare?.(target, stock);
  }

  /** Ends the preparation of a run's stock. Called once for all nodes, after the run's counter was read. */
  async handBack(runId: string): Promise<void> {
    const run = this.runs.get(runId);
    await run?.clients.strategy.handBack?.(run.assignment.target);
  }

  /**
   * Reserves the run's target: from now on this node starts no purchase and no give-back of it, until the run is open. Idempotent.
   * @param isResumed an earlier process of this node served the run
   * @returns the shop's purchases and give-backs of the target that are still in flight
   */
  reserve(assignment: RunAssignment, isResumed = false): number {
    const resource = resourceOf(assignment.target);
    if (!this.runs.get(assignment.runId)) this.runs.add(resource, this.newRun(assignment, isResumed));
    return this.runs.countShopWork(resource);
  }

  /** Opens a reserved run: purchases of its target now belong to it. Idempotent. @returns false if it is unknown */
  open(runId: string): boolean {
    const run = this.runs.get(runId);
    if (run?.state === "reserved") run.state = "open";
    return run !== undefined;
  }

  /** Reserves and opens. */
  assign(assignment: RunAssignment, isResumed = false): void {
    this.reserve(assignment, isResumed);
    this.open(assignment.runId);
  }

  private newRun(assignment: RunAssignment, isResumed: boolean): ActiveRun {
    const clients = this.strategies.forRun(assignment.strategy, routesOf(assignment, this.name));
    const capacity = this.options.historyCapacity?.() ?? HISTORY_CAPACITY;
    const spooled = this.options.spool?.recover(assignment.runId) ?? null;
    const figures = spooled ? figuresOf(recordedOperations(spooled.ndjson)) : new RunFigures();
    if (spooled && spooled.stops.length > 0) this.stops.restore(stopsOf(assignment), spooled.stops);
    const recorder = new Recorder({ node: this.name, host: clockName(), capacity });
    recorder.spool = this.options.spool?.open(assignment.runId, recorder) ?? null;
    return {
      assignment,
      clients,
      meter: new PurchaseMeter(metrics(), figures),
      figures,
      recorder,
      spooled,
      isResumed,
      state: "reserved",
    };
  }

  /** Serves new purchases of an open run through these proxies. Purchases in progress end with their clients. @returns false if it is not open */
  reroute(runId: string, proxyPorts: RunAssignment["proxyPorts"]): boolean {
    const run = this.runs.get(runId);
    if (run?.state !== "open") return false;
    run.clients.use(routesOf({ ...run.assignment, proxyPorts }, this.name));
    return true;
  }

  /** Closes a run on this node: purchases in flight still belong to it, new ones do not. @returns false if it is unknown */
  close(runId: string): boolean {
    const run = this.runs.get(runId);
    if (!run) return false;
    run.state = "closed";
    this.stops.disarm(runId);
    return true;
  }

  /** Frees the target, the memory and the spool of a run that has ended. */
  forget(runId: string): void {
    this.runs.forget(runId);
  }

  private release({ assignment: { runId }, recorder, clients }: ActiveRun): void {
    void clients.close();
    this.stops.forget(runId);
    void recorder.spool?.stop().then(() => this.options.spool?.forget(runId));
  }

  /** ID of the run that keeps the shop from selling this target: it is not open yet, or awaits its verdict. */
  runHolding(target: StockTarget): string | null {
    const run = this.runs.holderOf(resourceOf(target));
    return run === null || run.state === "open" ? null : run.assignment.runId;
  }

  /** Arms a stop of this process in an open run. @returns its index among the run's outcomes; null if the run is not open */
  armStop(runId: string, stop: ArmedStop): number | null {
    const run = this.runs.get(runId);
    // Only closing the run disarms a stop.
    return run?.state === "open" ? this.stops.arm(stopsOf(run.assignment), stop) : null;
  }

  /**
   * Keeps a run for the next instance of this node: SIGKILL comes next, so nothing happens in this process after it. The
   * purchases in flight end with the process, and their outcome is not known.
   * @throws Error if some operations would be lost
   */
  private keepLastWords(runId: string, stops: readonly StopOutcome[]): void {
    const run = this.runs.get(runId);
    if (!run || !this.options.spool) throw new Error("the node has no spool that keeps its operations");
    const { recorder, meter } = run;
    if (recorder.dropped > 0) throw new Error("the node has already dropped operations of the run");
    const unfinished = [...meter.active()].map(([trace, purchase]) => recorder.unfinishedLine(trace, purchase));
    const ndjson = [...recorder.lines(), ...unfinished].map((line) => `${JSON.stringify(line)}\n`).join("");
    this.options.spool.keepLastWords(runId, { ndjson, stops });
  }

  allRuns(): readonly ActiveRun[] {
    return this.runs.all();
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
    const run = this.runs.get(runId);
    return (await run?.clients.strategy.drift?.(run.assignment.target)) ?? null;
  }

  /**
   * Settles the journal entries of a run's strategy at any age; null if it keeps none. Call it when no purchase of the run can
   * still write an order.
   */
  async settle(runId: string): Promise<Reconciliation | null> {
    const run = this.runs.get(runId);
    const options = { isDead: () => true, journalOnly: true };
    return (await run?.clients.strategy.reconcile?.(run.assignment.target, options)) ?? null;
  }

  /** Call once per purchase, after parsing: every later step takes the plan as an argument. */
  plan(target: StockTarget): PurchasePlan {
    const resource = resourceOf(target);
    const run = this.openRunOf(resource);
    const meter = run?.meter ?? this.shopMeter;
    const strategy = run?.clients.strategy ?? this.strategies.active;
    const { holdMs, ttlMs, waitTimeoutMs } = run?.assignment ?? this.options.defaults;
    return { resource, strategy, run, meter, holdMs, ttlMs, waitTimeoutMs, fencing: run?.assignment.fencing ?? true };
  }

  /** False if a run of the target was reserved, opened or closed after the plan was made. */
  isCurrent({ resource, run }: PurchasePlan): boolean {
    if (run) return this.openRunOf(resource) === run;
    return this.knowsRuns && this.runs.holderOf(resource) === null;
  }

  /** Call before the shop changes a target's stock, right after `isCurrent`; a run of the target waits for the matching leave. */
  enterShopWork({ resource }: PurchasePlan): void {
    this.runs.enterShopWork(resource);
  }

  leaveShopWork({ resource }: PurchasePlan): void {
    this.runs.leaveShopWork(resource);
  }

  private openRunOf(resource: string): ActiveRun | null {
    const run = this.runs.holderOf(resource);
    return run?.state === "open" ? run : null;
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
      // Without a spool, an earlier process left nothing.
      incompleteInstances: run.spooled?.incomplete ?? (run.isResumed ? 1 : 0),
      histograms: run.figures.encode(),
    };
  }

  /** Purchases on this node that are waiting for their lock. */
  countWaiters(): number {
    let waiters = this.shopMeter.countWaiters();
    for (const { meter } of this.runs.all()) waiters += meter.countWaiters();
    return waiters;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.runs.all().map(({ recorder }) => recorder.spool?.end()));
    await Promise.allSettled(this.runs.all().map(({ clients }) => clients.close()));
    await this.strategies[Symbol.asyncDispose]();
  }
}

function stopsOf({ runId, target }: RunAssignment) {
  return { runId, resource: resourceOf(target) };
}

function* ndjsonOf({ spooled, recorder }: ActiveRun): Generator<string> {
  if (spooled) yield spooled.ndjson;
  for (const line of recorder.lines()) yield `${JSON.stringify(line)}\n`;
}
