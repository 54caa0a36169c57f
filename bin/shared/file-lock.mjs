// Plain JavaScript without dependencies: bootstrap.mjs needs it before any package is installed.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSameProcess, self } from "./process-identity.mjs";

const POLL_MS = 100;
/** A lock file without readable content is stale after this time: its writer died between create and write. */
const UNREADABLE_GRACE_MS = 2_000;

/**
 * Runs `work` while no other process of this machine holds the lock file. The lock of a dead holder is taken over.
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
  let isReported = false;
  while (!createExclusively(file, me)) {
    const holder = readHolder(file);
    if (isStale(file, holder)) {
      breakStale(file);
      continue;
    }
    if (!isReported && holder) onWait?.(holder.pid);
    isReported ||= holder !== null;
    if (performance.now() > deadlineMs) {
      const who = holder ? `process ${holder.pid}` : "another process";
      throw new Error(
        `${who} has held ${file} for more than ${Math.round(waitTimeoutMs / 1000)} s. Stop it and try again.`,
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
    return null; // The holder released it.
  }
}

/**
 * @param {string} file
 * @returns {{ pid: number, start: string } | null} null if there is no file or it is incomplete
 */
function readHolder(file) {
  try {
    const holder = JSON.parse(readFileOrNull(file) ?? "null");
    return typeof holder?.pid === "number" && typeof holder.start === "string" ? holder : null;
  } catch {
    return null; // Incomplete.
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
    return null; // Deleted.
  }
}

/**
 * Deletes the lock file of a dead holder. Several waiters may find it stale at the same time, so a second exclusive file
 * admits one of them to check again and delete it. Otherwise a waiter could delete the lock of the next holder.
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
