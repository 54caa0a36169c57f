import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument, RunSample, RunViolations } from "@/lib/runs/document";
import { type Check, checksOf } from "./checks";
import type { SaleConfig } from "./run-config";
import { blankSeries, type RunSeries } from "./run-series";
import { type Figures, figuresOf, type NodeRow, nodeRowsOf } from "./run-view";
import { runningText } from "./running-text";
import { seriesOfSamples } from "./samples-series";
import { answersOf, evidenceOf, verdictText } from "./verdict";

/** Everything the body of a run shows, whether the run is being opened, runs, or is over. */
export interface RunModel {
  /** Changes with the run, so that nothing of the one before lives on. */
  readonly key: string;
  readonly figures: Figures;
  readonly lead: string;
  readonly rest: readonly string[];
  /** Facts under the bar: why one may believe it. */
  readonly evidence: readonly string[];
  /** Over time, as it was sampled. */
  readonly series: RunSeries;
  readonly nodeRows: readonly NodeRow[];
  readonly answers: readonly string[];
  readonly checks: readonly Check[];
  /** The checks have not been made yet, and figures are of this moment. */
  readonly pending: boolean;
}

const NO_PERCENTILES: Percentiles = { p50: null, p90: null, p95: null, p99: null, p999: null, max: null };
const NO_VIOLATIONS: RunViolations = {
  oversold: 0,
  lostUpdates: 0,
  undersold: 0,
  negativeStock: 0,
  duplicateClaims: 0,
  overlappingHolds: 0,
  staleWrites: 0,
};
const NO_COUNTS = { requests: 0, sold: 0, soldOut: 0, contended: 0, rejected: 0, errors: 0, unknown: 0 };
const CHECKS_FOLLOW = ["the checks follow when the last buyer is answered"];

export function modelOf(document: RunDocument, samples: readonly RunSample[]): RunModel {
  const pending = document.status === "running";
  const figures = figuresOf(document, samples);
  const words = pending ? { lead: runningText(figures), rest: [] } : verdictText(document);
  return {
    key: document.id,
    figures,
    ...words,
    evidence: pending ? CHECKS_FOLLOW : evidenceOf(document),
    series: seriesOfSamples(document, samples),
    nodeRows: nodeRowsOf(document, samples),
    answers: answersOf((pending ? samples.at(-1)?.counts : undefined) ?? document.counts),
    checks: checksOf(document),
    pending,
  };
}

/** The same page before the lab has answered, so that nothing moves when it does. */
export function openingModel(config: SaleConfig): RunModel {
  return {
    key: "opening",
    figures: {
      tone: "opening",
      initial: config.stock,
      orders: 0,
      oversold: 0,
      sold: 0,
      buyers: config.arrival === "rate" ? null : config.buyers,
      lostUpdates: 0,
      soldPerSecond: null,
      latencyMs: NO_PERCENTILES,
      peakInFlight: 0,
      certified: false,
      elapsedMs: null,
    },
    lead: "The sale starts once every store node has acknowledged it.",
    rest: [],
    evidence: CHECKS_FOLLOW,
    series: blankSeries("No samples yet"),
    nodeRows: Array.from({ length: config.nodes }, (_, index) => ({
      node: `node-${index + 1}`,
      requests: 0,
      sold: 0,
      inFlight: 0,
      waiters: 0,
      p50Ms: null,
      p99Ms: null,
    })),
    answers: answersOf(NO_COUNTS),
    checks: checksOf({ violations: NO_VIOLATIONS }),
    pending: true,
  };
}
