import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Notes that a fault ends a process of the lab on purpose, so that the supervisor does not count it as a crash. One file per
 * process, beside the state file that the supervisor names in `LAB_STATE_FILE`.
 */

const FOLDER = "ordered-ends";

/** Call it immediately before the process ends. Does nothing without a supervisor, such as in containers. */
export function noteOrderedEnd(pid: number, stateFile = process.env.LAB_STATE_FILE): void {
  if (!stateFile) return;
  const folder = join(dirname(stateFile), FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, String(pid)), "", { mode: 0o600 });
}

/** For the supervisor, when a process has ended. @returns true, once, if its end was ordered */
export function takeOrderedEnd(pid: number, stateFile: string): boolean {
  try {
    rmSync(join(dirname(stateFile), FOLDER, String(pid)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Notes of processes of an earlier lab: the kernel may give their pids to new processes. */
export function forgetOrderedEnds(stateFile: string): void {
  rmSync(join(dirname(stateFile), FOLDER), { recursive: true, force: true });
}
