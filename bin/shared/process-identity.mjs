// Plain JavaScript without dependencies: bootstrap.mjs needs it before any package is installed.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * The start time of a process as the system reports it: tells the process from a later one with the same pid. Null if the
 * process has exited.
 * @param {number} pid
 * @returns {string | null}
 */
export function startOf(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return process.platform === "linux" ? linuxStartOf(pid) : otherStartOf(pid);
}

/** @param {number} pid */
function linuxStartOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || startTicks === undefined) return null;
    return `${bootId()}:${startTicks}`;
  } catch {
    return null; // No such process.
  }
}

let cachedBootId = "";
function bootId() {
  if (cachedBootId === "") cachedBootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().slice(0, 8);
  return cachedBootId;
}

/** @param {number} pid */
function otherStartOf(pid) {
  const ps = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" });
  const line = ps.status === 0 ? ps.stdout.trim() : "";
  if (line === "" || line.startsWith("Z")) return null;
  return line.replace(/^\S+\s+/, "");
}

/**
 * Whether the recorded process still runs; false if another process has its pid.
 * @param {{ readonly pid: number, readonly start: string }} recorded
 */
export function isSameProcess(recorded) {
  return startOf(recorded.pid) === recorded.start;
}

/** This process. */
export function self() {
  return { pid: process.pid, start: startOf(process.pid) ?? "unknown" };
}
