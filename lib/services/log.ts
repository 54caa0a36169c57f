import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import { processSingleton } from "./singleton";

export type { Logger };

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/**
 * This process's log: one JSON object per line on standard error, because standard output belongs to the commands. Writes
 * are synchronous, so that a crash loses no line; the hot path logs nothing at `info`.
 */
export function log(): Logger {
  return processSingleton("log", createLog);
}

function createLog(): Logger {
  // Does not call env(), so that a process with an invalid environment can still log the error.
  const wanted = process.env.LOG_LEVEL;
  const level = LOG_LEVELS.find((known) => known === wanted) ?? "info";
  const options = {
    level,
    base: { node: process.env.STORE_NODE || "node-1", pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const target = destination({ fd: 2, sync: true });
  // Without a listener, a full disk would end the process. It loses lines until there is space again.
  target.on("error", () => undefined);
  return pino(options, target);
}
