import { PHASES, type Phase } from "../history/phases";
import {
  createHistogram,
  decodeHistogram,
  type LatencyHistogram,
  mergeHistograms,
  percentilesOf,
} from "../node/latency-histogram";
import type { NodeRunStats } from "../node/purchase-meter";
import { log } from "../services/log";
import { elapsedMs, nowNs } from "../services/monotonic";
import { deliverableUnits } from "./deliverable";
import type { RunDocument } from "./document";
import { sumCounts } from "./measure-run";
import type { NodeClient } from "./node-client";
import { NodeReadings } from "./node-readings";
import type { LiveFault, RunSample, RunStage } from "./run-sample";
import { insertSample, readStockFacts } from "./run-store";
import type { StockDatabase } from "./stock-database";

const SAMPLE_EVERY_MS = 250;
/** Limit of the wait for a node's figures, so that a stopped node does not stop the charts of the others. */
const NODE_WAIT_MS = 1_000;

/** What the coordinator knows of a run beyond the figures of nodes and database. */
export interface RunState {
  /** The stage before the first purchase, and while the run is closed. */
  readonly stage: RunStage;
  /** Where the run's stock and orders are. */
  readonly stock: StockDatabase;
  /** @param lateNodes nodes that did not answer in time */
  liveFaults(lateNodes: ReadonlySet<string>): readonly LiveFault[];
  /** Another process has ended the run. The sampler has stopped. */
  onEnded(): void;
}

interface Previous {
  readonly atMs: number;
  readonly deliverable: number;
  readonly completed: number;
  readonly latency: LatencyHistogram;
  readonly phases: Record<Phase, LatencyHistogram>;
}

/**
 * The live feed of one run: stores a sample with figures of the nodes and the database about four times a second. Takes one sample
 * at a time, so a slow sample delays the next one. The coordinator stops it.
 */
export class Sampler {
  private seq = 0;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  /** The first sample with a purchase; null before it. */
  private sellingSinceNs: bigint | null = null;
  private taking: Promise<void> = Promise.resolve();
  private previous: Previous | null = null;
  /** Later times use only the monotonic clock: setting the wall clock during a run would distort every chart. */
  private readonly createdNs = nowNs();
  private readonly createdAtMs: number;
  private readonly readings: NodeReadings;

  constructor(
    private readonly document: RunDocument,
    nodes: readonly NodeClient[],
    private readonly state: RunState,
  ) {
    this.readings = new NodeReadings(nodes, document.id);
    this.createdAtMs = Math.max(0, Date.now() - document.startedAtEpochMs);
  }

  /** How long the run has been selling, to the length of a sample. */
  get sellingMs(): number {
    return this.sellingSinceNs === null ? 0 : Math.round(elapsedMs(this.sellingSinceNs));
  }

  /** Takes the first sample at once: a node that a fault stops later then has earlier figures. */
  start(): void {
    this.takeAndSchedule();
  }

  /** Stops after a last sample with the final figures. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.taking;
    await this.takeQuietly();
  }

  private schedule(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => this.takeAndSchedule(), SAMPLE_EVERY_MS);
    this.timer.unref();
  }

  private takeAndSchedule(): void {
    this.taking = this.takeQuietly();
    void this.taking.then(() => this.schedule());
  }

  /** A sample that fails leaves a gap in a chart. It does not fail the run. */
  private async takeQuietly(): Promise<void> {
    try {
      await this.take();
    } catch (error) {
      log().warn({ runId: this.document.id, reason: (error as Error).message }, "could not take a sample");
    }
  }

  private async take(): Promise<void> {
    const { id, target } = this.document;
    // The last sample has the final figures, so it must not use earlier figures of a slow node.
    const figures = this.stopped ? this.readings.read() : this.readings.readWithin(NODE_WAIT_MS);
    const facts = this.state.stock.read((pool) => readStockFacts(pool, id, target));
    const [{ final, orders }, stats] = await Promise.all([facts, figures]);
    const atMs = Math.round(this.createdAtMs + elapsedMs(this.createdNs));
    const sample = this.compose({ atMs, stockLeft: final, orders, stats });
    if ((await insertSample(id, sample)) || this.stopped) return;
    this.stopped = true;
    this.state.onEnded();
  }

  private stageOf(requests: number): RunStage {
    const { stage } = this.state;
    return requests > 0 && stage !== "closing" ? "selling" : stage;
  }

  private compose(reading: { atMs: number; stockLeft: number; orders: number; stats: NodeRunStats[] }): RunSample {
    const { atMs, stockLeft, orders, stats } = reading;
    const counts = sumCounts(stats.map((node) => node.counts));
    if (counts.requests > 0) this.sellingSinceNs ??= nowNs();
    const inFlight = stats.reduce((sum, node) => sum + node.inFlight, 0);
    const phases = mergePhases(stats);
    const latency = mergeHistograms(stats.map((node) => decodeHistogram(node.histograms.latency)));
    const { initial } = this.document.stock;
    const deliverable = deliverableUnits(orders, initial);
    const now: Previous = { atMs, deliverable, completed: counts.requests - inFlight, latency, phases };
    const before = this.previous ?? {
      atMs: 0,
      deliverable: 0,
      completed: 0,
      latency: createHistogram(),
      phases: emptyPhases(),
    };
    this.previous = now;
    const seconds = Math.max(0.001, (atMs - before.atMs) / 1_000);
    this.seq += 1;
    return {
      seq: this.seq,
      atMs,
      stockLeft,
      orders,
      oversold: Math.max(0, orders - initial),
      counts,
      soldPerSecond: Math.max(0, (deliverable - before.deliverable) / seconds),
      completedPerSecond: Math.max(0, (now.completed - before.completed) / seconds),
      inFlight,
      waiters: stats.reduce((sum, node) => sum + node.waiters, 0),
      latencyMs: percentilesOf(latency),
      intervalLatencyMs: intervalLatency(latency, before.latency),
      stage: this.stageOf(counts.requests),
      faults: [...this.state.liveFaults(this.readings.late)],
      phaseMediansMs: intervalMedians(phases, before.phases),
      nodes: stats.map(nodeSample),
    };
  }
}

function intervalLatency(now: LatencyHistogram, before: LatencyHistogram): NonNullable<RunSample["intervalLatencyMs"]> {
  const { p50, p95, p99 } = percentilesOf(sinceOf(now, before));
  return { p50, p95, p99 };
}

/** What was recorded since an earlier reading. */
function sinceOf(now: LatencyHistogram, before: LatencyHistogram): LatencyHistogram {
  const since = mergeHistograms([now]);
  since.subtract(before);
  return since;
}

function nodeSample(node: NodeRunStats): RunSample["nodes"][number] {
  const { p50, p99 } = percentilesOf(decodeHistogram(node.histograms.latency));
  const { sold, requests } = node.counts;
  return { node: node.node, sold, requests, inFlight: node.inFlight, waiters: node.waiters, p50Ms: p50, p99Ms: p99 };
}

function emptyPhases(): Record<Phase, LatencyHistogram> {
  return { poolWait: createHistogram(), wait: createHistogram(), hold: createHistogram(), commit: createHistogram() };
}

function mergePhases(stats: readonly NodeRunStats[]): Record<Phase, LatencyHistogram> {
  const merged = emptyPhases();
  for (const node of stats) for (const phase of PHASES) merged[phase].add(decodeHistogram(node.histograms[phase]));
  return merged;
}

/** Medians since the last sample: the cumulative histograms now, minus those of the last sample. */
function intervalMedians(
  now: Record<Phase, LatencyHistogram>,
  before: Record<Phase, LatencyHistogram>,
): RunSample["phaseMediansMs"] {
  const medianOf = (phase: Phase) => percentilesOf(sinceOf(now[phase], before[phase])).p50;
  return { poolWait: medianOf("poolWait"), wait: medianOf("wait"), hold: medianOf("hold"), commit: medianOf("commit") };
}
