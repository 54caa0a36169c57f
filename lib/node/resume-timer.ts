import { spawn } from "node:child_process";

/**
 * Starts a detached process that sends SIGCONT to `pid` after `afterMs` and exits. It survives the death of the stopped
 * process's parent, of its process group and of the lab.
 * @returns false if it did not start; then do not stop the process
 */
export function startResumeTimer(pid: number, afterMs: number): boolean {
  const seconds = (afterMs / 1_000).toFixed(3);
  const timer = spawn("/bin/sh", ["-c", 'sleep "$1"; kill -CONT "$2"', "resume-timer", seconds, String(pid)], {
    // `lab down` and Ctrl-C end the lab's whole process group.
    detached: true,
    stdio: "ignore",
  });
  timer.on("error", () => {});
  timer.unref();
  return timer.pid !== undefined;
}
