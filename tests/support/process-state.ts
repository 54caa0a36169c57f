import { execFileSync } from "node:child_process";

/** Whether a signal has stopped the process. The kernel does that when it next schedules the process, not when the signal is sent. */
export function isStopped(pid: number): boolean {
  return execFileSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .startsWith("T");
}
