import { type Phase, phaseSpans } from "../history/phases";
import type { OperationOutcome } from "../history/types";
import type { OperationTrace } from "../stock/types";
import { emptyCounts, type RunCounts } from "./figures";
import { createHistogram, encodeHistogram, type LatencyHistogram, recordMs } from "./latency-histogram";

/** What a node answers when it is asked how its run goes; histograms are base64 HdrHistogram V2, in microseconds. */
export interface NodeRunStats {
  readonly node: string;
  readonly runId: string;
  readonly counts: RunCounts;
  readonly inFlight: number;
  readonly waiters: number;
  readonly peakInFlight: number;
  readonly recorded: number;
  readonly dropped: number;
  readonly histograms: { readonly latency: string } & { readonly [phase in Phase]: string };
}

const countOf: Record<OperationOutcome, keyof RunCounts> = {
  sold: "sold",
  sold_out: "soldOut",
  contended: "contended",
  rejected: "rejected",
  error: "errors",
  unknown: "unknown",
};

/** Live figures of one run on one node. Everything here is on the hot path: counters and histogram increments only. */
export class PurchaseMeter {
  readonly counts = emptyCounts();
  peakInFlight = 0;
  private readonly active = new Set<OperationTrace>();
  private readonly latency = createHistogram();
  private readonly phases: Record<Phase, LatencyHistogram> = {
    poolWait: createHistogram(),
    wait: createHistogram(),
    hold: createHistogram(),
    commit: createHistogram(),
  };

  begin(trace: OperationTrace): void {
    this.counts.requests += 1;
    this.active.add(trace);
    this.peakInFlight = Math.max(this.peakInFlight, this.active.size);
  }

  get inFlight(): number {
    return this.active.size;
  }

  /** Purchases that have asked for their turn and not got it yet; counted when asked, so that serving costs nothing. */
  countWaiters(): number {
    let waiters = 0;
    for (const trace of this.active) {
      if (trace.waitNs !== undefined && trace.grantedNs === undefined && trace.readNs === undefined) waiters += 1;
    }
    return waiters;
  }

  end(trace: OperationTrace, outcome: OperationOutcome): void {
    this.active.delete(trace);
    this.counts[countOf[outcome]] += 1;
    recordMs(this.latency, millis(trace.invokedNs, trace.answeredNs));
    recordMs(this.phases.poolWait, Number(trace.poolWaitNs ?? 0n) / 1e6);
    for (const [phase, durationMs] of phaseDurations(trace)) recordMs(this.phases[phase], durationMs);
  }

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

function millis(fromNs: bigint | undefined, toNs: bigint | undefined): number {
  return fromNs === undefined || toNs === undefined ? 0 : Number(toNs - fromNs) / 1e6;
}

/** How long each phase took that a purchase went through, in milliseconds, without what it waited there for connections. */
export function phaseDurations(trace: OperationTrace): readonly (readonly [Phase, number])[] {
  return phaseSpans(trace).map(([phase, fromNs, toNs]) => {
    const pooledMs = Number(trace[`${phase}PoolNs`] ?? 0n) / 1e6;
    return [phase, Math.max(0, millis(fromNs, toNs) - pooledMs)];
  });
}
