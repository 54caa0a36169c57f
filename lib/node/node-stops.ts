import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { elapsedMs, nowNs } from "../services/monotonic";
import { noteOrderedEnd } from "../services/ordered-end";
import type { Failpoint } from "../stock/failpoint";
import { PROCESS_INSTANCE_ID } from "./process-instance";
import { startResumeTimer } from "./resume-timer";

/** Shorter than the 30 s after which a purchase's request and a control request time out. */
export const LONGEST_PAUSE_MS = 15_000;

/**
 * Where a stop happens: right before a holder's write, between SETNX and PEXPIRE of a holder, at a moment in time, or in a
 * holder's work. The last one delays only the holder.
 */
export const STOP_POINTS = ["before-write", "before-expiry", "any-time", "in-work"] as const;
export type StopPoint = (typeof STOP_POINTS)[number];

/** A stop of the node's process in a run; body of `PUT /api/node/runs/{id}/stops`. */
export const armedStopSchema = z.strictObject({
  point: z.enum(STOP_POINTS),
  /** Counted from the arrival of the first purchase that reached the point on this node; for `any-time`, from now. */
  atMs: z.int().min(0),
  /** Length of the pause or delay; null: the process is killed. */
  durationMs: z.int().min(1).max(LONGEST_PAUSE_MS).nullable(),
  /** For `in-work`: false if this node renews no lease of the resource until the delay is over. Absent: it does. */
  renewsLease: z.boolean().optional(),
});
export type ArmedStop = z.infer<typeof armedStopSchema>;

/** The holder at the point. Null where the point does not know it. */
const holder = { holderId: z.string().nullable(), buyerId: z.string().nullable() };

/** Result of an armed stop. Times are nanoseconds of the host's monotonic clock as decimal strings. */
export const stopOutcomeSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("armed") }),
  /** Disarmed before a holder reached the point at `atMs` or later. */
  z.object({ status: z.literal("disarmed") }),
  z.object({ status: z.literal("failed"), reason: z.string() }),
  z.object({ status: z.literal("paused"), fromNs: z.string(), toNs: z.string(), ...holder }),
  /** A holder's work is being delayed. */
  z.object({ status: z.literal("delaying"), fromNs: z.string(), ...holder }),
  /** Only the holder's work was delayed. */
  z.object({ status: z.literal("delayed"), fromNs: z.string(), toNs: z.string(), ...holder }),
  /** Reported by a later process instance of the node. */
  z.object({ status: z.literal("killed"), atNs: z.string(), instance: z.string(), ...holder }),
]);
export type StopOutcome = z.infer<typeof stopOutcomeSchema>;

interface Stop extends ArmedStop {
  outcome: StopOutcome;
  timer?: NodeJS.Timeout;
}

interface ArmedRun {
  readonly runId: string;
  readonly resource: string;
  /** By point. */
  readonly firstArrivalNs: Map<StopPoint, bigint>;
  readonly stops: Stop[];
}

interface Holder {
  readonly holderId: string | null;
  readonly buyerId: string | null;
}

const NO_HOLDER: Holder = { holderId: null, buyerId: null };

export interface StopActions {
  /** Stops this process and returns when it runs again. @throws Error if the process cannot be stopped */
  readonly pause: (durationMs: number) => void;
  /** Does not return. @throws Error if the process cannot be killed */
  readonly kill: () => void;
}

/**
 * Stops this store node's whole process for faults: SIGSTOP or SIGKILL at a named point. Each stop happens once. The stops
 * of a run end with the run.
 */
export class NodeStops {
  private readonly runs = new Map<string, ArmedRun>();
  /** Armed stops of all runs: every purchase checks it, so the check must be cheap. */
  private armedCount = 0;
  /** Resources with a holder whose work is delayed, and whose lease is not renewed. */
  private readonly unrenewed = new Set<string>();
  /** Keeps what a killed process cannot report for the next instance of the node. @throws Error if it cannot */
  keep: (runId: string, outcomes: readonly StopOutcome[]) => void = () => {
    throw new Error("the node cannot keep its operations for its next process");
  };

  constructor(private readonly actions: StopActions = thisProcess) {}

  /** @returns the stop's index among the run's outcomes */
  arm({ runId, resource }: { readonly runId: string; readonly resource: string }, armed: ArmedStop): number {
    const run: ArmedRun = this.runs.get(runId) ?? { runId, resource, firstArrivalNs: new Map(), stops: [] };
    this.runs.set(runId, run);
    const stop: Stop = { ...armed, outcome: { status: "armed" } };
    this.armedCount += 1;
    if (stop.point === "any-time") stop.timer = setTimeout(() => this.stopHere(run, stop, NO_HOLDER), stop.atMs);
    return run.stops.push(stop) - 1;
  }

  /** Takes over the outcomes that an earlier process instance of this node kept. Its armed stops did not happen. */
  restore(run: { readonly runId: string; readonly resource: string }, outcomes: readonly StopOutcome[]): void {
    const stops = outcomes.map((outcome): Stop => {
      const isOver = outcome.status !== "armed" && outcome.status !== "delaying";
      return { point: "any-time", atMs: 0, durationMs: null, outcome: isOver ? outcome : { status: "disarmed" } };
    });
    this.runs.set(run.runId, { ...run, firstArrivalNs: new Map(), stops });
  }

  outcomes(runId: string): StopOutcome[] {
    return (this.runs.get(runId)?.stops ?? []).map(({ outcome }) => outcome);
  }

  /** Disarms the stops that have not happened yet. @returns the outcome of each stop, in the order of arming */
  disarm(runId: string): StopOutcome[] {
    const stops = this.runs.get(runId)?.stops ?? [];
    for (const stop of stops) if (stop.outcome.status === "armed") this.settle(stop, { status: "disarmed" });
    return this.outcomes(runId);
  }

  forget(runId: string): void {
    this.disarm(runId);
    this.runs.delete(runId);
  }

  /** Failpoint right before a holder's write. */
  readonly beforeWrite: Failpoint = ({ runId, buyerId, trace }) => {
    if (this.armedCount === 0 || runId === null) return;
    const run = this.runs.get(runId);
    if (run) this.pass(run, { point: "before-write", holderId: trace.holderId ?? null, buyerId }, trace.invokedNs);
  };

  /** Failpoint of a holder whose lock has no expiry yet. */
  readonly beforeExpiry = (resource: string): void => {
    if (this.armedCount === 0) return;
    const run = [...this.runs.values()].find((each) => each.resource === resource);
    if (run) this.pass(run, { point: "before-expiry", ...NO_HOLDER }, nowNs());
  };

  /** Failpoint in a holder's work. @returns null if nothing delays it */
  readonly inWork = ({ runId, buyerId, trace }: Parameters<Failpoint>[0]): Promise<void> | null => {
    if (this.armedCount === 0 || runId === null) return null;
    const run = this.runs.get(runId);
    const due = run && this.dueAt(run, "in-work", trace.invokedNs);
    if (!due) return null;
    const at = { holderId: trace.holderId ?? null, buyerId };
    if (due.durationMs !== null) return this.delay(run, due, { ...at, durationMs: due.durationMs });
    this.stopHere(run, due, at);
    return null;
  };

  /** False while a stop without renewals in a holder's work on the resource is armed or happens. */
  readonly renewsLease = (resource: string): boolean => {
    if (this.armedCount === 0 && this.unrenewed.size === 0) return true;
    if (this.unrenewed.has(resource)) return false;
    const run = [...this.runs.values()].find((each) => each.resource === resource);
    return !run?.stops.some(({ renewsLease, outcome }) => renewsLease === false && outcome.status === "armed");
  };

  private async delay(
    run: ArmedRun,
    stop: Stop,
    { durationMs, ...at }: Holder & { durationMs: number },
  ): Promise<void> {
    const fromNs = nowNs();
    if (stop.renewsLease === false) this.unrenewed.add(run.resource);
    this.settle(stop, { status: "delaying", fromNs: String(fromNs), ...at });
    await sleep(durationMs);
    this.unrenewed.delete(run.resource);
    this.settle(stop, { status: "delayed", fromNs: String(fromNs), toNs: String(nowNs()), ...at });
  }

  private pass(run: ArmedRun, { point, ...at }: Holder & { point: StopPoint }, arrivedNs: bigint): void {
    const due = this.dueAt(run, point, arrivedNs);
    if (due) this.stopHere(run, due, at);
  }

  private dueAt(run: ArmedRun, point: StopPoint, arrivedNs: bigint): Stop | undefined {
    const firstNs = run.firstArrivalNs.get(point) ?? arrivedNs;
    run.firstArrivalNs.set(point, firstNs);
    const sinceFirstMs = elapsedMs(firstNs);
    return run.stops.find(
      (stop) => stop.point === point && stop.outcome.status === "armed" && sinceFirstMs >= stop.atMs,
    );
  }

  private stopHere(run: ArmedRun, stop: Stop, at: Holder): void {
    try {
      if (stop.durationMs === null) this.kill(run, stop, at);
      else this.settle(stop, this.pause(stop.durationMs, at));
    } catch (error) {
      this.settle(stop, { status: "failed", reason: (error as Error).message });
    }
  }

  private pause(durationMs: number, at: Holder): StopOutcome {
    const fromNs = nowNs();
    this.actions.pause(durationMs);
    return { status: "paused", fromNs: String(fromNs), toNs: String(nowNs()), ...at };
  }

  private kill(run: ArmedRun, stop: Stop, at: Holder): void {
    this.settle(stop, { status: "killed", atNs: String(nowNs()), instance: PROCESS_INSTANCE_ID, ...at });
    this.keep(run.runId, this.outcomes(run.runId));
    this.actions.kill();
  }

  private settle(stop: Stop, outcome: StopOutcome): void {
    if (stop.outcome.status === "armed") this.armedCount -= 1;
    clearTimeout(stop.timer);
    stop.outcome = outcome;
  }
}

const thisProcess: StopActions = {
  /** The kernel stops a process that signals itself before the call to `kill` returns. */
  pause(durationMs) {
    assertStoppable();
    if (!startResumeTimer(process.pid, durationMs))
      throw new Error("the node was not stopped, because the process that resumes it did not start");
    process.kill(process.pid, "SIGSTOP");
  },
  kill() {
    assertStoppable();
    noteOrderedEnd(process.pid);
    process.kill(process.pid, "SIGKILL");
  },
};

function assertStoppable(): void {
  // The kernel ignores signals of pid 1 to itself.
  if (process.pid === 1)
    throw new Error("pid 1 of a container ignores SIGSTOP and SIGKILL; run the node under an init process");
}
