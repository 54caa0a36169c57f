import { type Finding, VIOLATION_KINDS } from "../history/finding";
import type { History } from "../history/history";
import { byHost, peakOverlap, waitsOf } from "../history/intervals";
import type { Operation } from "../history/operation";
import { PHASES, type Phase } from "../history/phases";
import { recoveryOf } from "../history/recovery";
import { refusedWritesIn } from "../history/refused-writes";
import { firstRunRelativeUs } from "../history/run-relative-time";
import type { HistoryOrder } from "../history/types";
import { isContended } from "../history/verdict";
import { emptyCounts, type RunCounts } from "../node/figures";
import {
  decodeHistogram,
  encodeHistogram,
  type LatencyHistogram,
  mergeHistograms,
  percentilesOf,
} from "../node/latency-histogram";
import type { NodeRunStats } from "../node/purchase-meter";
import { isVisitorId } from "../node/visitor-id";
import type { StockDrift } from "../stock/types";
import type { CheckedRun } from "./checked-runs";
import { deliverableUnits } from "./deliverable";
import type { NodeResult, RunDocument, RunHistograms, RunPhases } from "./document";

/** What the lab reads about a run when its load is over, apart from its history. */
export interface RunFigures {
  readonly stats: readonly NodeRunStats[];
  /** Read from the database after the run, not from the recorder. */
  readonly database: { readonly final: number; readonly orders: readonly HistoryOrder[] };
  /** For strategies that count outside PostgreSQL. */
  readonly drift?: StockDrift | null;
}

/** Fills in the measured fields of a run document. `withVerdict` adds the verdict. */
export function measureRun(document: RunDocument, figures: RunFigures, { parsed, report }: CheckedRun): RunDocument {
  const { stats, database, drift } = figures;
  const { history } = parsed;
  const { ops } = history;
  const { violations, findings, measures } = report;
  const durationMs = spanMs(ops);
  const orders = database.orders.reduce((sum, order) => sum + order.quantity, 0);
  const refused = refusedWritesIn(history).length;
  const visitors = ops.filter(({ buyerId }) => isVisitorId(buyerId)).length;
  return {
    ...document,
    durationMs,
    counts: sumCounts(stats.map((node) => node.counts)),
    ...(visitors > 0 ? { visitors } : {}),
    ...(refused > 0 ? { refusedStaleWrites: refused } : {}),
    stock: {
      initial: document.stock.initial,
      final: database.final,
      orders,
      ...(drift ? { counter: drift.counter } : {}),
    },
    violations,
    firstSeenMs: firstSeenMs(history, findings),
    latencyMs: percentilesOf(mergedOf(stats, "latency")),
    latencySource: "server",
    phasesMs: phasesOf(stats),
    histograms: histogramsOf(stats),
    throughput: {
      offeredPerSecond: document.config.rate,
      completedPerSecond: perSecond(ops.length, durationMs),
      soldPerSecond: perSecond(deliverableUnits(orders, document.stock.initial), durationMs),
    },
    contention: {
      certified: isContended(measures),
      contendedSections: measures.contendedSections,
      peakInFlight: measures.peakInFlight,
      peakWaiters: peakOverlap(waitsOf(ops)),
      arrivalSkewMs: null,
      droppedIterations: null,
    },
    ...waitFigures(measures),
    ...recoveryFigures(document, history),
    nodes: stats.map((node) => nodeResult(node, ops)),
  };
}

function recoveryFigures({ faults }: RunDocument, history: History): Pick<RunDocument, "recovery"> {
  if (faults.length === 0) return {};
  const recovery = faults.map(({ fromNs }) => {
    const found = recoveryOf(history, { fromNs: BigInt(fromNs) });
    if (found === null) return null;
    const { nextGrantMs, unserved, watchedMs, lastGrantMs, lossSignalMs } = found;
    return {
      nextGrantMs: roundedOrNull(nextGrantMs, 1),
      unserved,
      watchedMs: rounded(watchedMs, 1),
      lastGrantMs: roundedOrNull(lastGrantMs, 1),
      lossSignalMs: roundedOrNull(lossSignalMs, 1),
    };
  });
  return { recovery };
}

function waitFigures({
  fairness,
  handOff,
}: CheckedRun["report"]["measures"]): Pick<RunDocument, "fairness" | "handOff"> {
  const { jain, longestWaitMs } = fairness;
  const { count, p50Ms, p99Ms, maxMs } = handOff;
  return {
    fairness: { jain: roundedOrNull(jain, 3), longestWaitMs: roundedOrNull(longestWaitMs, 3) },
    handOff: { count, p50Ms: roundedOrNull(p50Ms, 3), p99Ms: roundedOrNull(p99Ms, 3), maxMs: roundedOrNull(maxMs, 3) },
  };
}

/** Each time belongs to one kind: the first overlap of two holders usually precedes the harm that it causes. */
function firstSeenMs(history: History, findings: readonly Finding[]): RunDocument["firstSeenMs"] {
  const times = VIOLATION_KINDS.flatMap((kind) => {
    const firstUs = firstRunRelativeUs(
      history,
      findings.filter((finding) => finding.kind === kind),
    );
    return firstUs === null ? [] : [[kind, rounded(firstUs / 1_000, 3)] as const];
  });
  return Object.fromEntries(times);
}

export function sumCounts(all: readonly RunCounts[]): RunCounts {
  const total = emptyCounts();
  for (const counts of all) {
    for (const key of Object.keys(total) as (keyof RunCounts)[]) total[key] += counts[key];
  }
  return total;
}

/** Histograms of several nodes can be added up, percentiles cannot. */
function mergedOf(stats: readonly NodeRunStats[], name: keyof RunHistograms): LatencyHistogram {
  return mergeHistograms(stats.map((node) => decodeHistogram(node.histograms[name])));
}

function histogramsOf(stats: readonly NodeRunStats[]): RunHistograms {
  const names = ["latency", ...PHASES] as const;
  return Object.fromEntries(names.map((name) => [name, encodeHistogram(mergedOf(stats, name))])) as RunHistograms;
}

function phasesOf(stats: readonly NodeRunStats[]): RunPhases {
  const merged = (phase: Phase) => percentilesOf(mergedOf(stats, phase));
  return Object.fromEntries(PHASES.map((phase) => [phase, merged(phase)])) as RunPhases;
}

function nodeResult(node: NodeRunStats, ops: readonly Operation[]): NodeResult {
  return {
    node: node.node,
    counts: node.counts,
    latencyMs: percentilesOf(decodeHistogram(node.histograms.latency)),
    phasesMs: phasesOf([node]),
    peakInFlight: node.peakInFlight,
    peakWaiters: peakOverlap(waitsOf(ops.filter((op) => op.node === node.node))),
  };
}

/** From the first purchase to the last answer. */
function spanMs(ops: readonly Operation[]): number | null {
  if (ops.length === 0) return null;
  let longestNs = 0;
  for (const onHost of byHost(ops).values()) {
    let first = Infinity;
    let last = -Infinity;
    for (const { invokedNs, answeredNs } of onHost) {
      first = Math.min(first, invokedNs);
      last = Math.max(last, answeredNs ?? invokedNs);
    }
    longestNs = Math.max(longestNs, last - first);
  }
  return rounded(longestNs / 1e6, 3);
}

function perSecond(count: number, durationMs: number | null): number | null {
  return durationMs ? rounded((count * 1_000) / durationMs, 1) : null;
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function roundedOrNull(value: number | null, digits: number): number | null {
  return value === null ? null : rounded(value, digits);
}
