import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import { processSingleton } from "./singleton";

export type { Logger };

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/**
 * This process's log: JSON, a line each, on standard error, since standard output belongs to the commands. Written at once, so
 * that a crash loses none; nothing on the hot path writes at `info` (docs/decisions/153-metrics-and-logs.md).
 */
export function log(): Logger {
  return processSingleton("log", createLog);
}

function createLog(): Logger {
  // Not by way of env(): a process whose environment is wrong must still be able to say so.
  const wanted = process.env.LOG_LEVEL;
  const level = LOG_LEVELS.find((known) => known === wanted) ?? "info";
  const options = {
    level,
    base: { node: process.env.STORE_NODE || "node-1", pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination({ fd: 2, sync: true }));
}
