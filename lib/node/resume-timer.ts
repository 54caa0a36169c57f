import { spawn } from "node:child_process";

/**
 * Starts a process that wakes a stopped one after `afterMs` and ends. It belongs to nobody: it does its work also when
 * the stopped process's parent, its group or the whole lab has died meanwhile.
 * @returns false when it could not be started; nobody may be stopped then
 */
export function startResumeTimer(pid: number, afterMs: number): boolean {
  const seconds = (afterMs / 1_000).toFixed(3);
  const healer = spawn("/bin/sh", ["-c", 'sleep "$1"; kill -CONT "$2"', "healer", seconds, String(pid)], {
    // Out of the process group, which `lab down` and Ctrl-C end as a whole.
    detached: true,
    stdio: "ignore",
  });
  healer.on("error", () => {});
  healer.unref();
  return healer.pid !== undefined;
}
