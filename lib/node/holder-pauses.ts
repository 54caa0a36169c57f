import { z } from "zod";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { Failpoint } from "../stock/failpoint";
import { startResumeTimer } from "./resume-timer";

/** Requests must outlive it: a buyer's waits 30 s for its answer, a control call half a minute. */
export const LONGEST_PAUSE_MS = 15_000;

/** A holder that is to be stopped; body of `PUT /api/node/runs/{id}/pauses`. */
export const armedPauseSchema = z.strictObject({
  /** Since the arrival of the first purchase that came to its write on this node. */
  atMs: z.int().min(0),
  durationMs: z.int().min(1).max(LONGEST_PAUSE_MS),
});
export type ArmedPause = z.infer<typeof armedPauseSchema>;

/** What became of it; times of the host's monotonic clock, as decimal strings. */
export const pauseOutcomeSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("armed") }),
  /** Nobody came to a write at its time before it was called off. */
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

/** Stops this process for so long, and returns when it runs again. @throws Error when it cannot be */
export type StandStill = (durationMs: number) => void;

/**
 * Where a store node's holders are stopped: by SIGSTOP of the whole process, right before the write, when a holder has
 * looked at its lease for the last time. Each pause happens once; what is armed for a run ends with the run.
 */
export class HolderPauses {
  private readonly runs = new Map<string, ArmedRun>();
  /** Pauses that wait for a holder: every purchase asks, so asking must cost nothing. */
  private waiting = 0;

  constructor(private readonly standStill: StandStill = stopThisProcess) {}

  /** @returns its place among the run's outcomes */
  arm(runId: string, pause: ArmedPause): number {
    const run = this.runs.get(runId) ?? { firstArrivalNs: null, pauses: [] };
    this.runs.set(runId, run);
    this.waiting += 1;
    return run.pauses.push({ ...pause, outcome: { status: "armed" } }) - 1;
  }

  /** Calls off what has not happened. @returns what became of each, in the order in which they were armed */
  disarm(runId: string): PauseOutcome[] {
    const pauses = this.runs.get(runId)?.pauses ?? [];
    for (const pause of pauses) if (pause.outcome.status === "armed") this.settle(pause, { status: "disarmed" });
    return pauses.map(({ outcome }) => outcome);
  }

  forget(runId: string): void {
    this.disarm(runId);
    this.runs.delete(runId);
  }

  /** The failpoint of this node's strategies. */
  readonly pass: Failpoint = (holder) => {
    if (this.waiting === 0 || holder.runId === null) return;
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
      this.standStill(durationMs);
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
    this.waiting -= 1;
  }
}

/** The kernel stops a process that signals itself before the call returns. */
function stopThisProcess(durationMs: number): void {
  // In a container without an init the kernel would ignore the signal.
  if (process.pid === 1) throw new Error("the first process of a container cannot be stopped; run it under an init");
  if (!startResumeTimer(process.pid, durationMs))
    throw new Error("the process that would wake it could not be started");
  process.kill(process.pid, "SIGSTOP");
}
