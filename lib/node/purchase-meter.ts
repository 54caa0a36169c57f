import { type Phase, phaseSpans } from "../history/phases";
import type { OperationOutcome } from "../history/types";
import type { Metrics } from "../services/metrics";
import type { OperationTrace } from "../stock/types";
import { emptyCounts, type RunCounts } from "./figures";
import { createHistogram, encodeHistogram, type LatencyHistogram, recordMs } from "./latency-histogram";
import type { PurchaseFacts } from "./recorder";

/** One node's live figures of a run. Histograms are base64 HdrHistogram V2 in microseconds. */
export interface NodeRunStats {
  readonly node: string;
  readonly runId: string;
  readonly counts: RunCounts;
  readonly inFlight: number;
  readonly waiters: number;
  readonly peakInFlight: number;
  readonly recorded: number;
  readonly dropped: number;
  /** Earlier process instances of the node that ended before they could keep all their operations. */
  readonly incompleteInstances: number;
  readonly histograms: { readonly latency: string } & { readonly [phase in Phase]: string };
}

export const COUNT_OF: Record<OperationOutcome, keyof RunCounts> = {
  sold: "sold",
  sold_out: "soldOut",
  contended: "contended",
  rejected: "rejected",
  error: "errors",
  unknown: "unknown",
};
const PHASE_LABEL: Record<Phase, string> = { poolWait: "pool_wait", wait: "wait", hold: "hold", commit: "commit" };

/** What one node measured of one run. */
export class RunFigures {
  readonly counts = emptyCounts();
  peakInFlight = 0;
  readonly latency = createHistogram();
  readonly phases: Record<Phase, LatencyHistogram> = {
    poolWait: createHistogram(),
    wait: createHistogram(),
    hold: createHistogram(),
    commit: createHistogram(),
  };

  encode(): NodeRunStats["histograms"] {
    return {
      latency: encodeHistogram(this.latency),
      poolWait: encodeHistogram(this.phases.poolWait),
      wait: encodeHistogram(this.phases.wait),
      hold: encodeHistogram(this.phases.hold),
      commit: encodeHistogram(this.phases.commit),
    };
  }
}

/**
 * Measures purchases, for Prometheus and, inside a run, for the run's figures. Every purchase has one meter: its run's,
 * or the shop's. On the hot path, so it only adds to counters and histograms.
 */
export class PurchaseMeter {
  readonly #active = new Map<OperationTrace, PurchaseFacts>();

  constructor(
    private readonly metrics: Metrics,
    private readonly run: RunFigures | null,
  ) {}

  begin(trace: OperationTrace, purchase: PurchaseFacts): void {
    this.#active.set(trace, purchase);
    if (!this.run) return;
    this.run.counts.requests += 1;
    this.run.peakInFlight = Math.max(this.run.peakInFlight, this.#active.size);
  }

  get inFlight(): number {
    return this.#active.size;
  }

  /** The purchases in flight. */
  active(): Iterable<readonly [OperationTrace, PurchaseFacts]> {
    return this.#active;
  }

  /** Purchases that are waiting for their lock. Counted when read, so that the hot path does no extra work. */
  countWaiters(): number {
    let waiters = 0;
    for (const { waitNs, grantedNs, readNs } of this.#active.keys()) {
      if (waitNs !== undefined && grantedNs === undefined && readNs === undefined) waiters += 1;
    }
    return waiters;
  }

  end(strategyId: string, trace: OperationTrace, outcome: OperationOutcome): void {
    const { purchases, purchaseSeconds, leasesLost } = this.metrics;
    this.#active.delete(trace);
    const latencyMs = millis(trace.invokedNs, trace.answeredNs ?? trace.invokedNs);
    purchases.add(`${strategyId}|${outcome}`);
    purchaseSeconds.record(strategyId, latencyMs / 1_000);
    if (trace.leaseLostNs !== undefined) leasesLost.add(strategyId);
    if (this.run) {
      this.run.counts[COUNT_OF[outcome]] += 1;
      recordMs(this.run.latency, latencyMs);
    }
    this.recordPhase(strategyId, "poolWait", Number(trace.poolWaitNs ?? 0n) / 1e6);
    for (const [phase, fromNs, toNs] of phaseSpans(trace)) {
      // A phase excludes its waits for pooled connections: those count as poolWait.
      const pooledMs = Number(trace[`${phase}PoolNs`] ?? 0n) / 1e6;
      this.recordPhase(strategyId, phase, Math.max(0, millis(fromNs, toNs) - pooledMs));
    }
  }

  private recordPhase(strategyId: string, phase: Phase, durationMs: number): void {
    this.metrics.phaseSeconds.record(`${strategyId}|${PHASE_LABEL[phase]}`, durationMs / 1_000);
    if (this.run) recordMs(this.run.phases[phase], durationMs);
  }
}

function millis(fromNs: bigint, toNs: bigint): number {
  return Number(toNs - fromNs) / 1e6;
}
