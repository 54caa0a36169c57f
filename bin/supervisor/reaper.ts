import { isSameProcess } from "../shared/process-identity.mjs";
import { signalGroup } from "./owned-process";
import type { RecordedProcess } from "./state";
import { waitFor } from "./wait-for";

const TERM_TIMEOUT_MS = 8_000;
const KILL_TIMEOUT_MS = 5_000;

/**
 * Ends what a crashed supervisor left behind. A process is known by pid and start time together: a stranger that got
 * the pid later is left alone.
 * @returns the names of those ended
 */
export async function reapOrphans(recorded: readonly RecordedProcess[]): Promise<string[]> {
  const orphans = recorded.filter((entry) => isSameProcess(entry));
  for (const { pid } of orphans) signalLeader(pid);
  const isOver = () => orphans.every((entry) => !isSameProcess(entry));
  await waitFor(isOver, { what: "orphans to end", timeoutMs: TERM_TIMEOUT_MS }).catch(() => {
    for (const entry of orphans) if (isSameProcess(entry)) signalGroup(entry.pid, "SIGKILL");
  });
  await waitFor(isOver, { what: "orphans to end after SIGKILL", timeoutMs: KILL_TIMEOUT_MS });
  return orphans.map(({ name }) => name);
}

/** SIGINT is the fast, orderly end for PostgreSQL, and an orderly one for all others the lab starts. */
function signalLeader(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
