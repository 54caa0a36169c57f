import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { ANSWER_KINDS, byKind } from "./answer-kinds";
import type { FaultBand } from "./fault-bands";
import { plural } from "./format";
import { type Columns, type RunSeries, STACK_ORDER } from "./run-series";
import { timeAxis } from "./time-axis";

/** Time series from the samples, about four per second: for active runs and runs without a history. */

/** The samples with activity, and the start of the time axis. */
interface ActiveSpan {
  /** Last idle sample before the first purchase, in milliseconds since the run was opened. */
  readonly fromMs: number;
  readonly samples: readonly RunSample[];
}

const SAMPLE_EVERY_S = 0.25;
/** Lengths of the axis while the run is active. It is rescaled only when the run outgrows a length, not by every sample. */
const LIVE_LENGTHS_S = [2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200];

const isActive = (sample: RunSample) => sample.inFlight > 0 || sample.counts.requests > 0;

/**
 * Cuts off the start-up and shutdown of the load generator: k6 needs seconds to start, while a sale may take less.
 * Ends with the first complete sample: all responses, all orders, no purchase in flight. While the run is active, a sample that looks
 * complete may be a pause, so nothing is cut off.
 */
export function activeSpan(samples: readonly RunSample[], isLive = false): ActiveSpan {
  const first = samples.findIndex(isActive);
  const last = samples.at(-1);
  if (first === -1 || last === undefined) return { fromMs: 0, samples: [] };
  const fromMs = samples[first - 1]?.atMs ?? 0;
  if (isLive) return { fromMs, samples: samples.slice(first) };
  const complete = samples.findIndex(
    (sample, index) =>
      index >= first &&
      sample.inFlight === 0 &&
      sample.counts.requests === last.counts.requests &&
      sample.orders === last.orders &&
      sample.stockLeft === last.stockLeft,
  );
  const end = complete === -1 ? samples.length : complete + 1;
  return { fromMs, samples: samples.slice(first, end) };
}

type Sampled = Pick<RunDocument, "stock" | "faults" | "clock" | "status" | "config">;

/** A run of a known length has its whole length from the start. */
function liveEndS({ config }: Pick<RunDocument, "config">, nowS: number): number {
  const leastS = Math.max(nowS, (config.durationMs ?? 0) / 1_000);
  return LIVE_LENGTHS_S.find((lengthS) => lengthS >= leastS) ?? leastS;
}

export function seriesOfSamples(document: Sampled, all: readonly RunSample[]): RunSeries {
  const isLive = document.status === "running";
  const { samples, fromMs } = activeSpan(all, isLive);
  const x = samples.map((sample) => (sample.atMs - fromMs) / 1_000);
  const columns = (...readers: readonly ((sample: RunSample) => number | null)[]): Columns => ({
    x,
    ys: readers.map((read) => samples.map(read)),
  });
  return {
    source: `from ${plural(samples.length, "sample")}, four per second`,
    latencySpan: "per interval",
    inFlightUnit: "at each sample",
    axis: timeAxis(isLive || x.length === 0 ? liveEndS(document, x.at(-1) ?? 0) : (x.at(-1) ?? 0), SAMPLE_EVERY_S),
    blank: "No samples yet",
    stock: stockColumns(document.stock.initial, x, samples),
    phases: columns(...STACK_ORDER.map((phase) => (sample: RunSample) => sample.phaseMediansMs[phase])),
    answers: { x, ys: answersPerSecond(samples, fromMs) },
    latency: columns(
      ({ intervalLatencyMs }) => intervalLatencyMs?.p50 ?? null,
      ({ intervalLatencyMs }) => intervalLatencyMs?.p95 ?? null,
      ({ intervalLatencyMs }) => intervalLatencyMs?.p99 ?? null,
    ),
    inside: columns(
      ({ inFlight }) => inFlight,
      ({ waiters }) => waiters,
    ),
    bands: isLive ? liveBands(samples, fromMs) : bandsOf(document, fromMs),
  };
}

/** Answers since the previous sample, by kind, per second. */
function answersPerSecond(samples: readonly RunSample[], fromMs: number): number[][] {
  return ANSWER_KINDS.map((kind) =>
    samples.map(({ atMs, counts }, index) => {
      const before = samples[index - 1];
      const answers = byKind(counts)[kind] - (before === undefined ? 0 : byKind(before.counts)[kind]);
      return Math.max(0, answers) / Math.max(0.001, (atMs - (before?.atMs ?? fromMs)) / 1_000);
    }),
  );
}

/** Faults under way, from the sample that saw them first to the last one that did. */
function liveBands(samples: readonly RunSample[], fromMs: number): FaultBand[] {
  const bands = new Map<string, FaultBand>();
  for (const { atMs, faults = [] } of samples) {
    const nowS = (atMs - fromMs) / 1_000;
    for (const { id, isActive } of faults) {
      if (isActive) bands.set(id, { label: id, fromS: bands.get(id)?.fromS ?? nowS, toS: nowS });
    }
  }
  return [...bands.values()];
}

/** Starts at the opening of the sale, with zero orders and the full stock. */
function stockColumns(initial: number, x: readonly number[], samples: readonly RunSample[]): Columns {
  if (samples.length === 0) return { x: [], ys: [[], [], []] };
  return {
    x: [0, ...x],
    ys: [
      [0, ...samples.map(({ orders }) => orders)],
      [initial, ...samples.map(({ stockLeft }) => stockLeft)],
      [0, ...samples.map(({ oversold }) => oversold)],
    ],
  };
}

/**
 * Fault times are monotonic, sample times count from the opening of the run; `clock` relates the two. Documents without
 * `clock` are older than faults and have none.
 */
function bandsOf({ faults, clock }: Pick<RunDocument, "faults" | "clock">, fromMs: number): FaultBand[] {
  if (!clock) return [];
  const opened = BigInt(clock.startedNs);
  const seconds = (readingNs: string) => Number(BigInt(readingNs) - opened) / 1e9 - fromMs / 1_000;
  return faults.map(({ faultId, fromNs, toNs }) => ({ label: faultId, fromS: seconds(fromNs), toS: seconds(toNs) }));
}
