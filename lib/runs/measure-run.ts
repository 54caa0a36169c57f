import { findViolations } from "../history/check-history";
import { fairnessOf } from "../history/checkers/fairness";
import { handOffOf } from "../history/checkers/hand-off";
import { type Finding, isViolation } from "../history/finding";
import { type History, makeHistory } from "../history/history";
import { byHost, peakInFlight, peakOverlap, waitsOf } from "../history/intervals";
import { type Operation, toFault } from "../history/operation";
import { PHASES, type Phase } from "../history/phases";
import { firstRunRelativeUs } from "../history/run-relative-time";
import type { HistoryOrder } from "../history/types";
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
import type { NodeResult, RunDocument, RunHistograms, RunPhases } from "./document";

/** What was found out about a run once its load was over. */
export interface RunFacts {
  readonly stats: readonly NodeRunStats[];
  readonly ops: readonly Operation[];
  /** Read from the database after the run, not from the recorder. */
  readonly database: { readonly final: number; readonly orders: readonly HistoryOrder[] };
  /** For strategies that count outside of PostgreSQL. */
  readonly drift?: StockDrift | null;
  /** Every purchase of the run is in `ops`. */
  readonly isComplete: boolean;
}

/** The run as the checkers see it. See docs/history-format.md for what each of them looks for. */
export function historyOf(document: RunDocument, { ops, database, drift, isComplete }: RunFacts): History {
  const { fencing } = document.config;
  const run = {
    initial: document.stock.initial,
    limitPerBuyer: limitPerBuyer(document),
    ...(fencing === undefined ? {} : { fencing }),
  };
  const end = { ...database, counter: drift?.counter ?? null };
  return makeHistory({ run, ops, faults: document.faults.map(toFault), end, isComplete });
}

/** Coupons are one each. */
export function limitPerBuyer({ target, config }: Pick<RunDocument, "target" | "config">): number | null {
  return target.kind === "coupon" ? 1 : (config.limitPerUser ?? null);
}

/** Fills the measured parts of a run document. The verdict is drawn from it by `conclude`. */
export function measure(document: RunDocument, facts: RunFacts, history: History): RunDocument {
  const { stats, database, drift } = facts;
  const { ops } = history;
  const durationMs = spanMs(ops);
  const orders = database.orders.reduce((sum, order) => sum + order.quantity, 0);
  const latency = mergedOf(stats, "latency");
  const { violations, findings } = findViolations(history);
  const firstUs = firstViolationUs(history, findings.filter(isViolation));
  const visitors = ops.filter(({ buyerId }) => isVisitorId(buyerId)).length;
  return {
    ...document,
    durationMs,
    counts: sumCounts(stats.map((node) => node.counts)),
    ...(visitors > 0 ? { visitors } : {}),
    stock: {
      initial: document.stock.initial,
      final: database.final,
      orders,
      ...(drift ? { counter: drift.counter } : {}),
    },
    violations,
    ...(firstUs === null ? {} : { firstViolationMs: rounded(firstUs / 1_000, 3) }),
    latencyMs: percentilesOf(latency),
    latencySource: "server",
    phasesMs: phasesOf(stats),
    histograms: histogramsOf(stats),
    throughput: {
      offeredPerSecond: document.config.rate,
      completedPerSecond: perSecond(ops.length, durationMs),
      soldPerSecond: perSecond(orders, durationMs),
    },
    contention: contentionOf(ops),
    fairness: fairnessIn(ops),
    handOff: handOffIn(ops),
    nodes: stats.map((node) => nodeResult(node, ops)),
  };
}

/** An overlap comes before the harm it does: its moment counts only where there was no other harm. */
function firstViolationUs(history: History, violations: readonly Finding[]): number | null {
  const harm = violations.filter(({ kind }) => kind !== "overlappingHolds");
  return firstRunRelativeUs(history, harm.length > 0 ? harm : violations);
}

function contentionOf(ops: readonly Operation[]): RunDocument["contention"] {
  const peak = peakInFlight(ops);
  return {
    certified: peak >= 2,
    peakInFlight: peak,
    peakWaiters: peakOverlap(waitsOf(ops)),
    arrivalSkewMs: null,
    droppedIterations: null,
  };
}

function fairnessIn(ops: readonly Operation[]): RunDocument["fairness"] {
  const { jain, longestWaitMs } = fairnessOf(ops);
  return { jain: roundedOrNull(jain, 3), longestWaitMs: roundedOrNull(longestWaitMs, 3) };
}

function handOffIn(ops: readonly Operation[]): NonNullable<RunDocument["handOff"]> {
  const { count, p50Ms, p99Ms, maxMs } = handOffOf(ops);
  return { count, p50Ms: roundedOrNull(p50Ms, 3), p99Ms: roundedOrNull(p99Ms, 3), maxMs: roundedOrNull(maxMs, 3) };
}

export function sumCounts(all: readonly RunCounts[]): RunCounts {
  const total = emptyCounts();
  for (const counts of all) {
    for (const key of Object.keys(total) as (keyof RunCounts)[]) total[key] += counts[key];
  }
  return total;
}

/** Histograms add up where percentiles do not. */
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
