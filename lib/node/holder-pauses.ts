import { z } from "zod";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { Failpoint } from "../stock/failpoint";
import { startResumeTimer } from "./resume-timer";

/** Shorter than the 30 s after which a purchase's request and a control request time out. */
export const LONGEST_PAUSE_MS = 15_000;

/** A pause for the next lock holder of a run; body of `PUT /api/node/runs/{id}/pauses`. */
export const armedPauseSchema = z.strictObject({
  /** Counted from the arrival of the first purchase that reached its write on this node. */
  atMs: z.int().min(0),
  durationMs: z.int().min(1).max(LONGEST_PAUSE_MS),
});
export type ArmedPause = z.infer<typeof armedPauseSchema>;

/** Result of an armed pause. Times are nanoseconds of the host's monotonic clock as decimal strings. */
export const pauseOutcomeSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("armed") }),
  /** Disarmed before a holder reached its write at `atMs` or later. */
  z.object({ status: z.literal("disarmed") }),
  z.object({ status: z.literal("failed"), reason: z.string() }),
  z.object({
    status: z.literal("paused"),
    fromNs: z.string(),
    toNs: z.string(),
    holderId: z.string().nullable(),
    buyerId: z.string(),
  }),
]);
export type PauseOutcome = z.infer<typeof pauseOutcomeSchema>;

interface Pause extends ArmedPause {
  outcome: PauseOutcome;
}

interface ArmedRun {
  firstArrivalNs: bigint | null;
  readonly pauses: Pause[];
}

/** Stops this process and returns when it runs again. @throws Error if the process cannot be stopped */
export type PauseProcess = (durationMs: number) => void;

/**
 * Pauses lock holders of this store node: it stops the whole process with SIGSTOP right before the write, after the
 * holder's last check of its lease. Each pause happens once. The pauses of a run end with the run.
 */
export class HolderPauses {
  private readonly runs = new Map<string, ArmedRun>();
  /** Armed pauses of all runs: every purchase checks it, so the check must be cheap. */
  private armedCount = 0;

  constructor(private readonly pauseProcess: PauseProcess = stopThisProcess) {}

  /** @returns the pause's index among the run's outcomes */
  arm(runId: string, pause: ArmedPause): number {
    const run = this.runs.get(runId) ?? { firstArrivalNs: null, pauses: [] };
    this.runs.set(runId, run);
    this.armedCount += 1;
    return run.pauses.push({ ...pause, outcome: { status: "armed" } }) - 1;
  }

  /** Disarms the pauses that have not happened yet. @returns the outcome of each pause, in the order of arming */
  disarm(runId: string): PauseOutcome[] {
    const pauses = this.runs.get(runId)?.pauses ?? [];
    for (const pause of pauses) if (pause.outcome.status === "armed") this.settle(pause, { status: "disarmed" });
    return pauses.map(({ outcome }) => outcome);
  }

  forget(runId: string): void {
    this.disarm(runId);
    this.runs.delete(runId);
  }

  /** Failpoint for this node's strategies. */
  readonly pass: Failpoint = (holder) => {
    if (this.armedCount === 0 || holder.runId === null) return;
    const run = this.runs.get(holder.runId);
    if (!run) return;
    run.firstArrivalNs ??= holder.trace.invokedNs;
    const sinceFirstMs = elapsedMs(run.firstArrivalNs);
    const due = run.pauses.find(({ outcome, atMs }) => outcome.status === "armed" && sinceFirstMs >= atMs);
    if (due) this.settle(due, this.pauseHere(due, holder));
  };

  private pauseHere({ durationMs }: Pause, { trace, buyerId }: Parameters<Failpoint>[0]): PauseOutcome {
    const fromNs = nowNs();
    try {
      this.pauseProcess(durationMs);
    } catch (error) {
      return { status: "failed", reason: (error as Error).message };
    }
    const toNs = nowNs();
    return {
      status: "paused",
      fromNs: String(fromNs),
      toNs: String(toNs),
      holderId: trace.holderId ?? null,
      buyerId,
    };
  }

  private settle(pause: Pause, outcome: PauseOutcome): void {
    pause.outcome = outcome;
    this.armedCount -= 1;
  }
}

/** The kernel stops a process that signals itself before the call to `kill` returns. */
function stopThisProcess(durationMs: number): void {
  // The kernel ignores SIGSTOP for pid 1.
  if (process.pid === 1) throw new Error("pid 1 of a container ignores SIGSTOP; run the node under an init process");
  if (!startResumeTimer(process.pid, durationMs))
    throw new Error("the node was not stopped, because the process that resumes it did not start");
  process.kill(process.pid, "SIGSTOP");
}
