import { cpus, release, totalmem, type } from "node:os";
import { emptyCounts, emptyPercentiles } from "../node/figures";
import { clockName, nowNs } from "../services/monotonic";
import type { StockTarget } from "../stock/types";
import type { RunDocument } from "./document";
import type { RunRequest } from "./run-request";

export interface NewRun {
  readonly id: string;
  readonly request: RunRequest;
  readonly target: StockTarget;
  /** Units that one buyer may have; null or absent: no limit. */
  readonly limitPerUser?: number | null;
  readonly nodes: number;
  readonly expected: RunDocument["expected"];
  readonly versions: Record<string, string>;
}

/** The document of a run that was just opened: settings without figures and without a verdict. */
export function newDocument({ id, request, target, nodes, expected, versions, ...terms }: NewRun): RunDocument {
  const { stock, vus, rate, durationMs, holdMs, ttlMs, waitTimeoutMs, fencing, faults, engine, seed, sweep } = request;
  const isRate = rate !== undefined;
  return {
    id,
    strategy: request.strategy,
    target,
    config: {
      stock,
      vus: isRate ? null : vus,
      rate: rate ?? null,
      durationMs: isRate ? durationMs : null,
      holdMs,
      ttlMs,
      waitTimeoutMs,
      ...(fencing === undefined ? {} : { fencing }),
      ...(faults === undefined || faults.length === 0 ? {} : { faults }),
      ...(terms.limitPerUser ? { limitPerUser: terms.limitPerUser } : {}),
      nodes,
      engine,
      seed,
      ...(request.target.id === undefined ? {} : { targetId: request.target.id }),
      ...(sweep === undefined ? {} : { sweep }),
    },
    ...startNow(),
    durationMs: null,
    status: "running",
    counts: emptyCounts(),
    stock: { initial: stock, final: stock, orders: 0 },
    expected,
    verdict: "inconclusive",
    sentences: ["The run is in progress."],
    violations: {
      oversold: 0,
      lostUpdates: 0,
      undersold: 0,
      negativeStock: 0,
      duplicateClaims: 0,
      overlappingHolds: 0,
      staleWrites: 0,
    },
    latencyMs: emptyPercentiles,
    latencySource: "server",
    phasesMs: { poolWait: emptyPercentiles, wait: emptyPercentiles, hold: emptyPercentiles, commit: emptyPercentiles },
    throughput: { offeredPerSecond: rate ?? null, completedPerSecond: null, soldPerSecond: null },
    contention: { certified: false, peakInFlight: 0, peakWaiters: 0, arrivalSkewMs: null, droppedIterations: null },
    fairness: { jain: null, longestWaitMs: null },
    nodes: [],
    faults: [],
    client: null,
    versions,
    machine: thisMachine(),
  };
}

/** The run's time zero, by both clocks. */
export function startNow(): Pick<RunDocument, "startedAtEpochMs" | "clock"> {
  return { startedAtEpochMs: Date.now(), clock: { host: clockName(), startedNs: String(nowNs()) } };
}

function thisMachine(): RunDocument["machine"] {
  const processors = cpus();
  return {
    cpus: processors.length,
    cpuModel: processors[0]?.model.trim() ?? "unknown",
    memoryMb: Math.round(totalmem() / 2 ** 20),
    os: `${type()} ${release()}`,
  };
}
