import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";

/** The log files of a lab. They may contain what buyers sent, so only their owner may read them. */

const OWNER_ONLY = 0o600;
/** A larger log is moved to `<name>.1`, which replaces the one before. */
export const MAX_LOG_BYTES = 16 * 1_024 * 1_024;
const CHECK_EVERY_MS = 2_000;
const KEPT_RUN_LOGS = 200;
const COPY_BYTES = 1_024 * 1_024;

/** Opens a log for a process to append to. @returns a file descriptor that the caller closes */
export function openLog(file: string): number {
  mkdirSync(path.dirname(file), { recursive: true });
  const log = openSync(file, "a", OWNER_ONLY);
  chmodSync(file, OWNER_ONLY);
  return log;
}

/**
 * Keeps the last `maxBytes` of a larger log in `<file>.1` and empties the file. Processes keep their descriptor: they append,
 * so their next line is the first of the empty file. Lines written during the copy can be lost.
 */
export function rotateLog(file: string, maxBytes: number = MAX_LOG_BYTES): void {
  if (!existsSync(file) || statSync(file).size <= maxBytes) return;
  const log = openSync(file, "r+");
  try {
    copyTail(log, `${file}.1`, maxBytes);
  } finally {
    // Also if the copy failed: a full disk needs the space.
    ftruncateSync(log);
    closeSync(log);
  }
}

function copyTail(log: number, target: string, maxBytes: number): void {
  rmSync(target, { force: true });
  const copy = openSync(target, "w", OWNER_ONLY);
  const chunk = Buffer.alloc(Math.min(COPY_BYTES, maxBytes));
  const { size } = fstatSync(log);
  try {
    for (let at = Math.max(0, size - maxBytes); at < size; ) {
      const read = readSync(log, chunk, 0, chunk.length, at);
      if (read === 0) return;
      writeSync(copy, chunk, 0, read);
      at += read;
    }
  } finally {
    closeSync(copy);
  }
}

/** Deletes the oldest logs of runs, one of which each run leaves. */
export function pruneLogs(folder: string, keep: number = KEPT_RUN_LOGS): void {
  if (!existsSync(folder)) return;
  const logs = readdirSync(folder).filter((name) => /^run-.*\.log$/.test(name));
  const aged = logs.map((name) => ({ file: path.join(folder, name), atMs: statSync(path.join(folder, name)).mtimeMs }));
  const newestFirst = aged.sort((a, b) => b.atMs - a.atMs);
  for (const { file } of newestFirst.slice(keep)) rmSync(file, { force: true });
}

/** Rotates every log of a folder at intervals. @returns a function that stops it */
export function keepLogsSmall(folder: string, onError: (error: Error) => void): () => void {
  const check = () => {
    try {
      for (const name of readdirSync(folder)) if (name.endsWith(".log")) rotateLog(path.join(folder, name));
    } catch (error) {
      onError(error as Error);
    }
  };
  const timer = setInterval(check, CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
