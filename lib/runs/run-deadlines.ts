import { log } from "../services/log";

/** Delay between two attempts to end a run, for example while PostgreSQL does not answer. */
const RETRY_MS = 1_000;

type Action = () => Promise<unknown>;

interface Deadline {
  readonly dueAtMs: number;
  readonly action: Action;
}

/**
 * One timer per run. Timers use the monotonic clock, so a change of the wall clock ends no run. An action that fails is repeated,
 * because a run that does not end would block the next one.
 */
export class RunDeadlines {
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly deadlines = new Map<string, Deadline>();
  private readonly retrying = new Set<string>();
  private isStopped = false;

  /** Replaces the run's earlier deadline. */
  set(runId: string, afterMs: number, action: Action): void {
    this.deadlines.set(runId, { dueAtMs: performance.now() + afterMs, action });
    this.schedule(runId, afterMs, action);
  }

  /** Repeats an action that failed. When the run's deadline has passed, its action takes over. */
  retry(runId: string, action: Action, error: Error): void {
    if (!this.retrying.has(runId)) log().warn({ runId, err: error }, "could not end the run, retrying");
    this.retrying.add(runId);
    const deadline = this.deadlines.get(runId);
    const isDue = deadline !== undefined && performance.now() >= deadline.dueAtMs;
    this.schedule(runId, RETRY_MS, isDue ? deadline.action : action);
  }

  /** The run's end has been requested, and is repeated until it succeeds. */
  isRetrying(runId: string): boolean {
    return this.retrying.has(runId);
  }

  clear(runId: string): void {
    clearTimeout(this.timers.get(runId));
    this.timers.delete(runId);
    this.deadlines.delete(runId);
    this.retrying.delete(runId);
  }

  /** No timer is set after this call. */
  stop(): void {
    this.isStopped = true;
    for (const runId of [...this.timers.keys()]) this.clear(runId);
  }

  private schedule(runId: string, afterMs: number, action: Action): void {
    clearTimeout(this.timers.get(runId));
    if (this.isStopped) return;
    const timer = setTimeout(() => {
      this.timers.delete(runId);
      action().catch((error: Error) => {
        if (!this.timers.has(runId)) this.retry(runId, action, error);
      });
    }, afterMs);
    timer.unref();
    this.timers.set(runId, timer);
  }
}
