import { goneOpener } from "./abandoned-run";
import { isClosed } from "./close-run";
import { LabError } from "./lab-error";
import type { NodeClient } from "./node-client";
import { openerName, type RunningRun, readRunning } from "./run-claim";

export const NOT_FINISHED = "The load generator did not finish the run in time.";

/** How a run ends whose opener does not end it. */
export interface RunEnds {
  /** Deletes a run that was not opened to buyers. */
  discard(id: string): Promise<unknown>;
  /** Ends a closed run without the client's report. */
  finish(id: string): Promise<unknown>;
  /** The same, if no report arrives until the deadline. */
  finishAt(id: string, deadlineAtEpochMs: number): void;
  fail(id: string, reason: string): Promise<unknown>;
}

/** Ends the lab's running run if the process that opened it has ended, or has not ended it in time. */
export class UnownedRuns {
  /** @param openedBy this process, as in `openerName` */
  constructor(
    private readonly nodes: readonly NodeClient[],
    private readonly openedBy: string,
    private readonly ends: RunEnds,
  ) {}

  /** Ends the run that an earlier process with this name left running: its load ended with it. */
  async endOfEarlierProcess(running: RunningRun | null, name: string): Promise<void> {
    if (running === null || running.openedBy === this.openedBy || !running.openedBy.startsWith(openerName(name, "")))
      return;
    const { document, phase, deadlineAtEpochMs } = running;
    if (phase === "preparing") await this.ends.discard(document.id);
    else if (isClosed(document)) this.ends.finishAt(document.id, deadlineAtEpochMs);
    else await this.ends.fail(document.id, `The ${name} process restarted during the run.`);
  }

  /** Ends the running run if a store node opened it and no longer runs. */
  async endAbandoned(): Promise<void> {
    const running = await readRunning();
    if (running !== null) await this.endIfAbandoned(running);
  }

  /** @throws LabError `run_active` if a run is running, not overdue, and its opener may still run */
  async endOverdue(): Promise<void> {
    const running = await readRunning();
    if (!running) return;
    const { document, phase, deadlineAtEpochMs } = running;
    const { id } = document;
    if (Date.now() > deadlineAtEpochMs) await this.end(running, NOT_FINISHED);
    else if (!(await this.endIfAbandoned(running))) {
      const state = phase === "preparing" ? "being opened" : "still running";
      throw new LabError("run_active", `Run ${id} is ${state}.`, { runId: id });
    }
  }

  /** @returns false if the opener may still run */
  private async endIfAbandoned(running: RunningRun): Promise<boolean> {
    const opener = await goneOpener(running, this.nodes);
    if (opener !== null) await this.end(running, `${opener} opened the run and no longer runs.`);
    return opener !== null;
  }

  private async end({ document, phase }: RunningRun, reason: string): Promise<void> {
    const { id } = document;
    if (phase === "preparing") await this.ends.discard(id);
    else if (isClosed(document)) await this.ends.finish(id);
    else await this.ends.fail(id, reason);
  }
}
