import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
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
/** Minimum length of the axis while the run is active, so that the first samples do not rescale it. */
const MIN_LIVE_S = 1;

const isActive = (sample: RunSample) => sample.inFlight > 0 || sample.counts.requests > 0;

/**
 * Cuts off the start-up and shutdown of the load generator: k6 needs seconds to start, while a sale may take less.
 * Ends with the first complete sample: all responses, all orders, no purchase in flight.
 */
export function activeSpan(samples: readonly RunSample[]): ActiveSpan {
  const first = samples.findIndex(isActive);
  const last = samples.at(-1);
  if (first === -1 || last === undefined) return { fromMs: 0, samples: [] };
  const complete = samples.findIndex(
    (sample, index) =>
      index >= first &&
      sample.inFlight === 0 &&
      sample.counts.requests === last.counts.requests &&
      sample.orders === last.orders &&
      sample.stockLeft === last.stockLeft,
  );
  const end = complete === -1 ? samples.length : complete + 1;
  return { fromMs: samples[first - 1]?.atMs ?? 0, samples: samples.slice(first, end) };
}

type Sampled = Pick<RunDocument, "stock" | "faults" | "clock" | "status">;

export function seriesOfSamples(document: Sampled, all: readonly RunSample[]): RunSeries {
  const span = activeSpan(all);
  const { samples, fromMs } = span;
  const isLive = document.status === "running";
  const x = samples.map((sample) => (sample.atMs - fromMs) / 1_000);
  const columns = (...readers: readonly ((sample: RunSample) => number | null)[]): Columns => ({
    x,
    ys: readers.map((read) => samples.map(read)),
  });
  return {
    source: `from ${plural(samples.length, "sample")}, four per second`,
    latencySpan: "run so far",
    inFlightUnit: "at each sample",
    axis: timeAxis(Math.max(isLive || x.length === 0 ? MIN_LIVE_S : 0, x.at(-1) ?? 0), SAMPLE_EVERY_S),
    blank: "No samples yet",
    stock: stockColumns(document.stock.initial, x, samples),
    phases: columns(...STACK_ORDER.map((phase) => (sample: RunSample) => sample.phaseMediansMs[phase])),
    rates: columns(
      ({ soldPerSecond }) => soldPerSecond,
      ({ completedPerSecond }) => completedPerSecond,
    ),
    latency: columns(
      ({ latencyMs }) => latencyMs.p50,
      ({ latencyMs }) => latencyMs.p99,
    ),
    inside: columns(
      ({ inFlight }) => inFlight,
      ({ waiters }) => waiters,
    ),
    bands: bandsOf(document, fromMs),
  };
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
