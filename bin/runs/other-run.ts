import { setTimeout as delay } from "node:timers/promises";
import { type LabAddress, LabApiError, readRun } from "./lab-client";

/** How long a command waits for a run that another command or person opened. */
const LIMIT_MS = 15 * 60_000;
const POLL_MS = 1_000;

/** The error, if it says that another run is active. */
export function runActiveError(error: unknown): LabApiError | null {
  return error instanceof LabApiError && error.code === "run_active" ? error : null;
}

/** Waits for the run that blocks another one. @returns true if the other one can be opened now */
export async function otherRunEnded(lab: LabAddress, { runId }: LabApiError): Promise<boolean> {
  const giveUpAtMs = performance.now() + LIMIT_MS;
  while (performance.now() < giveUpAtMs) {
    await delay(POLL_MS);
    // Without an id, the other run is still being opened.
    if (runId === null || (await readRun(lab, runId)).status !== "running") return true;
  }
  return false;
}
