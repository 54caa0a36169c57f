import { createHistogram, curveOf, percentilesOf, recordMs } from "../../lib/node/latency-histogram";
import type { ClientReport } from "../../lib/runs/client-report";
import type { Answer } from "./purchase";

/** Collects the figures of each purchase for the client report. */
export class Tally {
  private readonly latency = createHistogram();
  private readonly lag = createHistogram();
  private readonly statuses = new Map<string, number>();
  private firstLagMs = Number.POSITIVE_INFINITY;
  private lastLagMs = 0;
  private sent = 0;
  private failed = 0;
  private dropped = 0;

  /** @param lagMs how late the generator sent the purchase */
  addStart(lagMs: number): void {
    this.sent += 1;
    this.firstLagMs = Math.min(this.firstLagMs, lagMs);
    this.lastLagMs = Math.max(this.lastLagMs, lagMs);
    recordMs(this.lag, lagMs);
  }

  /** Latency counts from the intended start of the purchase, not from when the generator sent it. */
  addAnswer(answer: Answer, intendedAtMs: number): void {
    const name = String(answer.status ?? "no answer");
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
    if (answer.status === null) this.failed += 1;
    else recordMs(this.latency, answer.answeredAtMs - intendedAtMs);
  }

  /** Counts a purchase that was due while the maximum was in flight. */
  addDropped(): void {
    this.dropped += 1;
  }

  report(engine: string, run: { readonly doorsOpen: boolean; readonly cpuPercent: number }): ClientReport {
    const skewMs = this.sent === 0 ? null : this.lastLagMs - this.firstLagMs;
    return {
      engine,
      iterations: this.sent,
      droppedIterations: this.dropped,
      failedRequests: this.failed,
      arrivalSkewMs: run.doorsOpen ? skewMs : null,
      latencyMs: percentilesOf(this.latency),
      curve: curveOf(this.latency),
      generatorLagP99Ms: percentilesOf(this.lag).p99 ?? 0,
      generatorCpuPercent: run.cpuPercent,
    };
  }

  /** Number of answers of each status, for the log. */
  statusLine(): string {
    return [...this.statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
  }
}
