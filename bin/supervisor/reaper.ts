import { isSameProcess } from "../shared/process-identity.mjs";
import { signalGroup } from "./owned-process";
import type { RecordedProcess } from "./state";
import { waitFor } from "./wait-for";

const TERM_TIMEOUT_MS = 8_000;
const KILL_TIMEOUT_MS = 5_000;

/**
 * Stops processes that a crashed supervisor left running. Pid and start time together identify a process, so an
 * unrelated process that was given the same pid later is not touched.
 * @returns the names of the stopped processes
 */
export async function reapOrphans(recorded: readonly RecordedProcess[]): Promise<string[]> {
  const orphans = recorded.filter((entry) => isSameProcess(entry));
  for (const { pid } of orphans) signalLeader(pid);
  const isOver = () => orphans.every((entry) => !isSameProcess(entry));
  await waitFor(isOver, { what: "waiting for orphaned processes to exit", timeoutMs: TERM_TIMEOUT_MS }).catch(() => {
    for (const entry of orphans) if (isSameProcess(entry)) signalGroup(entry.pid, "SIGKILL");
  });
  await waitFor(isOver, { what: "waiting for orphaned processes to exit after SIGKILL", timeoutMs: KILL_TIMEOUT_MS });
  return orphans.map(({ name }) => name);
}

/** SIGINT is PostgreSQL's fast shutdown, and a graceful shutdown for every other process that the lab starts. */
function signalLeader(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
    process.kill(pid, "SIGCONT"); // A process that a fault paused would not get the signal.
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
