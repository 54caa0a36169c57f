import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument, RunViolations } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { type Check, checksOf } from "./checks";
import { faultTexts, generatorName, isPreparing, type PreparationStep, preparationSteps } from "./live-run";
import type { SaleConfig } from "./run-config";
import { blankSeries, type RunSeries } from "./run-series";
import { type Figures, figuresOf, type NodeRow, nodeRowsOf } from "./run-view";
import { runningText } from "./running-text";
import { seriesOfSamples } from "./samples-series";
import { answersOf, evidenceOf, verdictText } from "./verdict";

/** View model of a run in any state: opening, running or finished. */
export interface RunModel {
  /** React key: changes with the run, so that no component state carries over. */
  readonly key: string;
  readonly figures: Figures;
  readonly lead: string;
  readonly rest: readonly string[];
  /** Facts that support the verdict, shown below the stock bar. */
  readonly evidence: readonly string[];
  /** The steps until the first purchase; null afterwards. */
  readonly preparation: readonly PreparationStep[] | null;
  /** Faults of an active run that have not ended. */
  readonly faults: readonly string[];
  /** Time series from the live samples. */
  readonly series: RunSeries;
  readonly nodeRows: readonly NodeRow[];
  readonly answers: readonly string[];
  readonly checks: readonly Check[];
  /** The run is active: no checks yet, and the figures are current values. */
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
const CHECKS_FOLLOW = ["the checks run when the last buyer has a response"];

export function modelOf(document: RunDocument, samples: readonly RunSample[]): RunModel {
  const pending = document.status === "running";
  const figures = figuresOf(document, samples);
  const stage = pending ? samples.at(-1)?.stage : undefined;
  const words = pending ? { lead: runningText(figures, stage), rest: [] } : verdictText(document);
  return {
    key: document.id,
    figures,
    ...words,
    evidence: pending ? CHECKS_FOLLOW : evidenceOf(document),
    preparation: isPreparing(stage) ? preparationSteps(stage, generatorName(document.config.engine)) : null,
    faults: pending ? faultTexts(samples) : [],
    series: seriesOfSamples(document, samples),
    nodeRows: nodeRowsOf(document, samples),
    answers: answersOf((pending ? samples.at(-1)?.counts : undefined) ?? document.counts, document.refusedStaleWrites),
    checks: checksOf(document),
    pending,
  };
}

/** The model before the lab has opened the run, with the same rows, so that the layout does not shift. */
export function openingModel(config: SaleConfig): RunModel {
  return {
    key: "opening",
    figures: {
      tone: "opening",
      initial: config.stock,
      orders: 0,
      oversold: 0,
      sold: 0,
      purchases: config.arrival === "rate" ? null : config.buyers,
      lostUpdates: 0,
      soldPerSecond: null,
      latencyMs: NO_PERCENTILES,
      latencySource: "server",
      peakInFlight: 0,
      certified: false,
      elapsedMs: null,
    },
    lead: "The lab prepares the sale.",
    rest: [],
    evidence: CHECKS_FOLLOW,
    preparation: preparationSteps("opening", generatorName(config.engine)),
    faults: [],
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
