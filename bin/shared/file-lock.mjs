// Plain JavaScript without dependencies: bootstrap.mjs needs it before any package is installed.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSameProcess, self } from "./process-identity.mjs";

const POLL_MS = 100;
/** Long enough for a write after a create, short enough not to be noticed. */
const UNREADABLE_GRACE_MS = 2_000;

/**
 * One process at a time, among all on this machine that use the same file. A holder that died frees it.
 * @template T
 * @param {{ readonly file: string, readonly waitTimeoutMs: number, readonly onWait?: (holderPid: number) => void }} options
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withFileLock(options, work) {
  const release = await acquire(options);
  try {
    return await work();
  } finally {
    release();
  }
}

/** @param {{ readonly file: string, readonly waitTimeoutMs: number, readonly onWait?: (holderPid: number) => void }} options */
async function acquire({ file, waitTimeoutMs, onWait }) {
  mkdirSync(path.dirname(file), { recursive: true });
  const me = JSON.stringify(self());
  const deadlineMs = performance.now() + waitTimeoutMs;
  let told = false;
  while (!createExclusively(file, me)) {
    const holder = readHolder(file);
    if (isStale(file, holder)) {
      breakStale(file);
      continue;
    }
    if (!told && holder) onWait?.(holder.pid);
    told ||= holder !== null;
    if (performance.now() > deadlineMs) {
      const who = holder ? `process ${holder.pid}` : "another process";
      throw new Error(
        `${who} has held ${file} for more than ${Math.round(waitTimeoutMs / 1000)} s; stop it and try again`,
      );
    }
    await sleep(POLL_MS);
  }
  return () => {
    if (readFileOrNull(file) === me) rmSync(file, { force: true });
  };
}

/**
 * @param {string} file
 * @param {string} content
 */
function createExclusively(file, content) {
  try {
    writeFileSync(file, content, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} file */
function readFileOrNull(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // Released in the meantime.
  }
}

/**
 * @param {string} file
 * @returns {{ pid: number, start: string } | null} null when there is none, or not yet a whole one
 */
function readHolder(file) {
  try {
    const holder = JSON.parse(readFileOrNull(file) ?? "null");
    return typeof holder?.pid === "number" && typeof holder.start === "string" ? holder : null;
  } catch {
    return null; // Half-written.
  }
}

/**
 * @param {string} file
 * @param {{ pid: number, start: string } | null} holder
 */
function isStale(file, holder) {
  if (holder) return !isSameProcess(holder);
  const ageMs = ageOf(file);
  return ageMs !== null && ageMs > UNREADABLE_GRACE_MS;
}

/** @param {string} file */
function ageOf(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return null; // Gone.
  }
}

/**
 * Takes a dead holder's file away. Several waiters may see it at once: a second exclusive file lets one of them
 * look again and act, so that nobody removes the lock of the one who came next.
 * @param {string} file
 */
function breakStale(file) {
  const guard = `${file}.break`;
  const guardAgeMs = ageOf(guard);
  if (guardAgeMs !== null && guardAgeMs > UNREADABLE_GRACE_MS) rmSync(guard, { force: true });
  if (!createExclusively(guard, "")) return;
  try {
    if (!isStale(file, readHolder(file))) return;
    const aside = `${file}.stale-${process.pid}`;
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  } finally {
    rmSync(guard, { force: true });
  }
}
