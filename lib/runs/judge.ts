import {
  countOverlappingHolds,
  countStaleWrites,
  flightsOf,
  jainIndex,
  peakOverlap,
  waitsOf,
} from "../history/checkers";
import type { HistoryOpLine } from "../history/types";
import type { StockDrift } from "../stock/types";
import type { NodeResult, RunCounts, RunDocument, RunPhases, RunViolations } from "./document";
import { decodeHistogram, mergeHistograms, percentilesOf } from "./percentiles";
import { emptyCounts, type NodeRunStats, PHASES, type Phase } from "./run-meter";

/** What was found out about a run once its load was over. */
export interface RunFacts {
  readonly stats: readonly NodeRunStats[];
  readonly ops: readonly HistoryOpLine[];
  /** Read from the database after the run, not from the recorder. */
  readonly database: { readonly final: number; readonly orders: number; readonly duplicateClaims: number };
  /** For strategies that count outside of PostgreSQL. */
  readonly drift?: StockDrift | null;
}

/** Fills the measured parts of a run document. The verdict is drawn from it by `conclude`. */
export function measure(document: RunDocument, facts: RunFacts): RunDocument {
  const { stats, ops, database } = facts;
  const counts = sumCounts(stats.map((node) => node.counts));
  const flights = flightsOf(ops);
  const durationMs = spanMs(ops);
  const waits = waitsOf(ops);
  const waitsMs = waits.map(({ from, to }) => Number(to - from) / 1e6);
  return {
    ...document,
    durationMs,
    counts,
    stock: {
      initial: document.stock.initial,
      final: database.final,
      orders: database.orders,
      ...(facts.drift ? { counter: facts.drift.counter } : {}),
    },
    violations: violationsOf(document.stock.initial, facts),
    latencyMs: percentilesOf(mergeHistograms(stats.map((node) => decodeHistogram(node.histograms.latency)))),
    latencySource: "server",
    phasesMs: phasesOf(stats),
    throughput: {
      offeredPerSecond: document.config.rate,
      completedPerSecond: perSecond(ops.length, durationMs),
      soldPerSecond: perSecond(database.orders, durationMs),
    },
    contention: {
      certified: peakOverlap(flights) >= 2,
      peakInFlight: peakOverlap(flights),
      peakWaiters: peakOverlap(waits),
      arrivalSkewMs: null,
      droppedIterations: null,
    },
    fairness: {
      jain: roundedOrNull(jainIndex(waitsMs), 3),
      longestWaitMs:
        waitsMs.length > 0
          ? rounded(
              waitsMs.reduce((a, b) => Math.max(a, b)),
              3,
            )
          : null,
    },
    nodes: stats.map((node) => nodeResult(node, ops)),
  };
}

/**
 * The violations a database and a history prove. See docs/history-format.md for each definition. A counter outside of
 * PostgreSQL that is below the row holds units nobody can buy; one above it promises what the row's guard refuses.
 */
export function violationsOf(
  initial: number,
  { ops, database, drift }: Pick<RunFacts, "ops" | "database" | "drift">,
): RunViolations {
  const { final, orders } = database;
  const lowest = Math.min(final, drift?.counter ?? final);
  return {
    oversold: Math.max(0, orders - initial),
    lostUpdates: Math.max(0, orders - (initial - final)),
    undersold: Math.max(0, initial - lowest - orders),
    negativeStock: Math.max(0, -lowest),
    duplicateClaims: database.duplicateClaims,
    overlappingHolds: countOverlappingHolds(ops),
    staleWrites: countStaleWrites(ops),
  };
}

export function sumCounts(all: readonly RunCounts[]): RunCounts {
  const total = emptyCounts();
  for (const counts of all) {
    for (const key of Object.keys(total) as (keyof RunCounts)[]) total[key] += counts[key];
  }
  return total;
}

function phasesOf(stats: readonly NodeRunStats[]): RunPhases {
  const merged = (phase: Phase) =>
    percentilesOf(mergeHistograms(stats.map((node) => decodeHistogram(node.histograms[phase]))));
  return Object.fromEntries(PHASES.map((phase) => [phase, merged(phase)])) as RunPhases;
}

function nodeResult(node: NodeRunStats, ops: readonly HistoryOpLine[]): NodeResult {
  return {
    node: node.node,
    counts: node.counts,
    latencyMs: percentilesOf(decodeHistogram(node.histograms.latency)),
    phasesMs: phasesOf([node]),
    peakInFlight: node.peakInFlight,
    peakWaiters: peakOverlap(waitsOf(ops.filter((op) => op.node === node.node))),
  };
}

function spanMs(ops: readonly HistoryOpLine[]): number | null {
  let first: bigint | null = null;
  let last: bigint | null = null;
  for (const op of ops) {
    const from = BigInt(op.invokedNs);
    const to = op.answeredNs === undefined ? from : BigInt(op.answeredNs);
    if (first === null || from < first) first = from;
    if (last === null || to > last) last = to;
  }
  return first === null || last === null ? null : rounded(Number(last - first) / 1e6, 3);
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
