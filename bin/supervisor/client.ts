import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isSameProcess } from "../shared/process-identity.mjs";
import { tailOf } from "./owned-process";
import { type InstancePaths, ROOT } from "./paths";
import { type Output, StepPrinter } from "./print";
import { reapOrphans } from "./reaper";
import { type LabState, readLiveState, readState } from "./state";
import { waitFor } from "./wait-for";

/** What other processes do with a lab: start one in the background, wait for it, stop it. */

/** Packages, apt, a first build: generous, but not for ever. */
const START_TIMEOUT_MS = 25 * 60_000;
const STOP_TIMEOUT_MS = 60_000;
const KILL_TIMEOUT_MS = 5_000;

export interface DetachedStart {
  readonly paths: InstancePaths;
  /** Flags for `up`, without --detach. */
  readonly args: readonly string[];
  readonly out: Output;
}

/**
 * Starts the lab as a process of its own and waits until it is ready, showing its steps.
 * @throws Error with the reason when it did not come up; then nothing of it is left running
 */
export async function startDetached({ paths, args, out }: DetachedStart): Promise<LabState> {
  mkdirSync(paths.logsDir, { recursive: true });
  const logFile = path.join(paths.logsDir, "supervisor.log");
  // Appended to, because two starts at once share it; emptied when nobody can be writing.
  if (!readLiveState(paths)) writeFileSync(logFile, "");
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, ["bin/bootstrap.mjs", "up", "--instance", paths.instance, ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const stopWaiting = stopOnInterrupt(child);
  const printer = new StepPrinter(out);
  try {
    const question = { what: "the lab to be ready", timeoutMs: START_TIMEOUT_MS, pollMs: 100 };
    return await waitFor(() => readyState({ paths, child, printer, logFile }), question);
  } catch (error) {
    child.kill("SIGTERM");
    throw error;
  } finally {
    printer.clear();
    stopWaiting();
    child.unref();
  }
}

/** @returns null while it is starting */
function readyState(start: {
  readonly paths: InstancePaths;
  readonly child: ChildProcess;
  readonly printer: StepPrinter;
  readonly logFile: string;
}): LabState | null {
  const { paths, child, printer, logFile } = start;
  // Asked before the state is read: what it wrote last is then in what is read.
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const state = readState(paths);
  if (state && state.supervisor.pid === child.pid) {
    printer.show(state.steps);
    if (state.status === "ready") return state;
    if (isOver && state.error !== null) throw new Error(state.error);
  }
  if (!isOver) return null;
  // Another start came first; ours has waited for it and left.
  const other = readLiveState(paths);
  if (other?.status === "ready") return other;
  throw new Error(`the lab did not come up:\n${tailOf(logFile, 15)}\n  log: ${logFile}`);
}

/** While it is not ready, a Ctrl-C here means: do not start. */
function stopOnInterrupt(child: ChildProcess): () => void {
  const pass = () => child.kill("SIGTERM");
  process.on("SIGINT", pass).on("SIGTERM", pass);
  return () => process.off("SIGINT", pass).off("SIGTERM", pass);
}

/** Waits for a lab that another process is just starting. */
export async function waitUntilReady(paths: InstancePaths): Promise<LabState> {
  return waitFor(
    () => {
      const state = readLiveState(paths);
      if (!state) throw new Error("the lab that was starting has ended");
      return state.status === "ready" ? state : null;
    },
    { what: "the lab that is starting to be ready", timeoutMs: START_TIMEOUT_MS, pollMs: 200 },
  );
}

/** The lab that runs, else a new one in the background. */
export async function ensureUp(start: DetachedStart): Promise<LabState> {
  const live = readLiveState(start.paths);
  if (live?.status === "ready") return live;
  if (live?.status === "starting") return waitUntilReady(start.paths);
  if (live) await waitFor(() => !readLiveState(start.paths), { what: "the lab to stop", timeoutMs: STOP_TIMEOUT_MS });
  return startDetached(start);
}

/**
 * Stops a lab and everything it started; also what a crashed one left behind.
 * @returns what was done, as a sentence
 */
export async function stopLab(paths: InstancePaths): Promise<string> {
  const startedMs = performance.now();
  const live = readLiveState(paths);
  if (live) {
    process.kill(live.supervisor.pid, "SIGTERM");
    const isGone = () => !isSameProcess(live.supervisor);
    await waitFor(isGone, { what: "the supervisor to end", timeoutMs: STOP_TIMEOUT_MS }).catch(async () => {
      process.kill(live.supervisor.pid, "SIGKILL");
      await waitFor(isGone, { what: "the supervisor to end after SIGKILL", timeoutMs: KILL_TIMEOUT_MS });
    });
  }
  const orphans = await reapOrphans(readState(paths)?.processes ?? []);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (live) return `The lab is stopped (${seconds} s).`;
  if (orphans.length > 0)
    return `Ended what a lab that crashed had left running: ${orphans.join(", ")} (${seconds} s).`;
  return "The lab is not running.";
}
