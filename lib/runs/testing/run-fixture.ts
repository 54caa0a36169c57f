import type { Percentiles } from "../../node/figures";
import type { ClientReport } from "../client-report";
import type { RunDocument } from "../document";
import type { RunSample } from "../run-sample";

/** Valid run documents and samples with round numbers, for tests. */

const percentiles: Percentiles = { p50: 40, p90: 90, p95: 100, p99: 120, p999: 130, max: 140 };
const counts = { requests: 500, sold: 100, soldOut: 400, contended: 0, rejected: 0, errors: 0, unknown: 0 };
const phases = { poolWait: percentiles, wait: percentiles, hold: percentiles, commit: percentiles };

export function runDocument(changes: Partial<RunDocument> = {}): RunDocument {
  return {
    id: "run-1",
    strategy: "redis-lock",
    target: { kind: "product", id: 7 },
    config: {
      stock: 100,
      vus: 500,
      rate: null,
      durationMs: null,
      holdMs: 5,
      ttlMs: 5_000,
      waitTimeoutMs: 10_000,
      nodes: 3,
      engine: "k6",
      seed: 1,
    },
    startedAtEpochMs: 1_795_000_000_000,
    durationMs: 2_000,
    status: "finished",
    counts,
    stock: { initial: 100, final: 0, orders: 100 },
    expected: "safe",
    verdict: "safe",
    sentences: ["All 100 units were sold once.", "Up to 96 purchases were in flight at once."],
    violations: {
      oversold: 0,
      lostUpdates: 0,
      undersold: 0,
      negativeStock: 0,
      duplicateClaims: 0,
      overlappingHolds: 0,
      staleWrites: 0,
    },
    latencyMs: percentiles,
    latencySource: "client",
    phasesMs: phases,
    throughput: { offeredPerSecond: null, completedPerSecond: 250, soldPerSecond: 50 },
    contention: { certified: true, peakInFlight: 96, peakWaiters: 95, arrivalSkewMs: 20, droppedIterations: 0 },
    fairness: { jain: 0.9, longestWaitMs: 130 },
    nodes: ["node-1", "node-2", "node-3"].map((node) => ({
      node,
      counts: { ...counts, requests: 166 },
      latencyMs: percentiles,
      phasesMs: phases,
      peakInFlight: 40,
      peakWaiters: 39,
    })),
    faults: [],
    client: null,
    versions: { lab: "abc1234" },
    machine: { cpus: 2, cpuModel: "Test", memoryMb: 1_024, os: "Linux" },
    ...changes,
  };
}

/** The report of a generator that sent every purchase and did not measure itself. */
export function clientReport(changes: Partial<ClientReport> = {}): ClientReport {
  return {
    engine: "test",
    iterations: counts.requests,
    droppedIterations: 0,
    failedRequests: 0,
    arrivalSkewMs: 10,
    latencyMs: percentiles,
    ...changes,
  };
}

export function runSample(seq: number, changes: Partial<RunSample> = {}): RunSample {
  return {
    seq,
    atMs: seq * 250,
    stockLeft: 100,
    orders: 0,
    oversold: 0,
    counts: { requests: 0, sold: 0, soldOut: 0, contended: 0, rejected: 0, errors: 0, unknown: 0 },
    soldPerSecond: 0,
    completedPerSecond: 0,
    inFlight: 0,
    waiters: 0,
    latencyMs: percentiles,
    phaseMediansMs: { poolWait: null, wait: null, hold: null, commit: null },
    nodes: [],
    ...changes,
  };
}
