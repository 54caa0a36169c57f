import type { Phase } from "../history/phases";
import type { OperationOutcome } from "../history/types";
import { gauge, type Metrics, metrics } from "../services/metrics";
import { processSingleton } from "../services/singleton";
import type { OperationTrace } from "../stock/types";
import { phaseDurations } from "./purchase-meter";

const PHASE_LABEL: Record<Phase, string> = { poolWait: "pool_wait", wait: "wait", hold: "hold", commit: "commit" };

/** What Prometheus is told of every purchase, of runs and outside of them. On the hot path: additions only. */
export class PurchaseMetrics {
  readonly #active = new Set<OperationTrace>();
  readonly #metrics: Metrics;

  constructor(to: Metrics) {
    this.#metrics = to;
  }

  begin(trace: OperationTrace): void {
    this.#active.add(trace);
  }

  /** Purchases that have asked for their turn and not got it yet. */
  countWaiters(): number {
    let waiters = 0;
    for (const { waitNs, grantedNs, readNs } of this.#active) {
      if (waitNs !== undefined && grantedNs === undefined && readNs === undefined) waiters += 1;
    }
    return waiters;
  }

  end(strategyId: string, trace: OperationTrace, outcome: OperationOutcome): void {
    const { purchases, purchaseSeconds, phaseSeconds, leasesLost } = this.#metrics;
    this.#active.delete(trace);
    purchases.add(`${strategyId}|${outcome}`);
    const { answeredNs = trace.invokedNs } = trace;
    purchaseSeconds.record(strategyId, Number(answeredNs - trace.invokedNs) / 1e9);
    phaseSeconds.record(`${strategyId}|${PHASE_LABEL.poolWait}`, Number(trace.poolWaitNs ?? 0n) / 1e9);
    for (const [phase, durationMs] of phaseDurations(trace)) {
      phaseSeconds.record(`${strategyId}|${PHASE_LABEL[phase]}`, durationMs / 1_000);
    }
    if (trace.leaseLostNs !== undefined) leasesLost.add(strategyId);
  }
}

export function purchaseMetrics(): PurchaseMetrics {
  return processSingleton("purchase-metrics", () => {
    const created = new PurchaseMetrics(metrics());
    gauge({
      name: "flash_sale_waiters",
      help: "Purchases that have asked for their turn and not got it yet.",
      read: () => created.countWaiters(),
    });
    return created;
  });
}
