import { log } from "../services/log";

/** One timer per run. Timers use the monotonic clock, so a change of the wall clock ends no run. */
export class RunDeadlines {
  private readonly timers = new Map<string, NodeJS.Timeout>();

  /** Replaces the run's earlier deadline. */
  set(runId: string, afterMs: number, action: () => Promise<unknown>): void {
    this.clear(runId);
    const timer = setTimeout(() => {
      this.timers.delete(runId);
      action().catch((error: Error) => log().error({ runId, err: error }, "could not end the run at its deadline"));
    }, afterMs);
    timer.unref();
    this.timers.set(runId, timer);
  }

  clear(runId: string): void {
    clearTimeout(this.timers.get(runId));
    this.timers.delete(runId);
  }

  clearAll(): void {
    for (const runId of [...this.timers.keys()]) this.clear(runId);
  }
}
