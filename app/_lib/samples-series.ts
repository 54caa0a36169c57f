import type { RunDocument, RunSample } from "@/lib/runs/document";
import type { FaultBand } from "./fault-bands";
import { plural } from "./format";
import { type Columns, type RunSeries, STACK_ORDER } from "./run-series";
import { timeAxis } from "./time-axis";

/** A run over time as it was sampled, about four times a second: live, and of runs whose history is not there. */

/** The part of a feed in which something happens, and the moment its x axis begins at. */
interface ActiveSpan {
  /** The last quiet moment before the first purchase, since the run was opened. */
  readonly fromMs: number;
  readonly samples: readonly RunSample[];
}

const SAMPLE_EVERY_S = 0.25;
/** So that the first samples of a run that goes on do not jump about. */
const LEAST_LIVE_S = 1;

const isActive = (sample: RunSample) => sample.inFlight > 0 || sample.counts.requests > 0;

/**
 * Leaves out the load engine's start and its end: k6 needs seconds to start, a sale may need less.
 * Ends with the first sample that has everything: all answers, all orders, nobody inside.
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
    source: `from ${plural(samples.length, "sample")}, four a second`,
    span: "run so far",
    moment: "at each sample",
    axis: timeAxis(Math.max(isLive || x.length === 0 ? LEAST_LIVE_S : 0, x.at(-1) ?? 0), SAMPLE_EVERY_S),
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

/** When the doors open orders and stock are known: none, and all of it. */
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
 * Faults are written in the history's monotonic time, samples in milliseconds since the run was opened: the document
 * has both readings of that moment. A run without them is older than its faults could be.
 */
function bandsOf({ faults, clock }: Pick<RunDocument, "faults" | "clock">, fromMs: number): FaultBand[] {
  if (!clock) return [];
  const opened = BigInt(clock.startedNs);
  const seconds = (readingNs: string) => Number(BigInt(readingNs) - opened) / 1e9 - fromMs / 1_000;
  return faults.map(({ faultId, fromNs, toNs }) => ({ label: faultId, fromS: seconds(fromNs), toS: seconds(toNs) }));
}
