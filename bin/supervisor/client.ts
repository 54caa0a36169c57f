import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isSameProcess } from "../shared/process-identity.mjs";
import type { Output } from "../shared/terminal";
import { openLog } from "./log-files";
import { tailOf } from "./owned-process";
import { type InstancePaths, ROOT } from "./paths";
import { StepPrinter } from "./print";
import { reapOrphans } from "./reaper";
import { type LabState, readLiveState, readState } from "./state";
import { waitFor } from "./wait-for";

/** How other processes use a lab: start it in the background, wait until it is ready, stop it. */

/** Covers package installation and a first build on a slow machine. */
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
 * Starts the lab in another process, shows its steps, and waits until it is ready.
 * @throws Error with the reason if it fails to start; then none of its processes is left running
 */
export async function startDetached({ paths, args, out }: DetachedStart): Promise<LabState> {
  mkdirSync(paths.logsDir, { recursive: true });
  const logFile = path.join(paths.logsDir, "supervisor.log");
  // Two starts at the same time append to one file; it is emptied only if no lab is running.
  if (!readLiveState(paths)) writeFileSync(logFile, "");
  const log = openLog(logFile);
  const child = spawn(process.execPath, ["bin/bootstrap.mjs", "up", "--instance", paths.instance, ...args], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const stopWaiting = stopOnInterrupt(child);
  const printer = new StepPrinter(out);
  try {
    const wait = { what: "the lab to be ready", timeoutMs: START_TIMEOUT_MS, pollMs: 100 };
    return await waitFor(() => readyState({ paths, child, printer, logFile }), wait);
  } catch (error) {
    child.kill("SIGTERM");
    throw error;
  } finally {
    printer.clear();
    stopWaiting();
    child.unref();
  }
}

/** @returns null while the lab is starting */
function readyState(start: {
  readonly paths: InstancePaths;
  readonly child: ChildProcess;
  readonly printer: StepPrinter;
  readonly logFile: string;
}): LabState | null {
  const { paths, child, printer, logFile } = start;
  // Checked before the state is read, so that the state includes what the process wrote last.
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const state = readState(paths);
  if (state && state.supervisor.pid === child.pid) {
    printer.show(state.steps);
    if (state.status === "ready") return state;
    if (isOver && state.error !== null) throw new Error(state.error);
  }
  if (!isOver) return null;
  // Another start came first, and our process has exited in its favour.
  const other = readLiveState(paths);
  if (other?.status === "ready") return other;
  throw new Error(`The lab did not start:\n${tailOf(logFile, 15)}\n  log: ${logFile}`);
}

/** Until the lab is ready, Ctrl-C cancels the start. */
function stopOnInterrupt(child: ChildProcess): () => void {
  const pass = () => child.kill("SIGTERM");
  process.on("SIGINT", pass).on("SIGTERM", pass);
  return () => process.off("SIGINT", pass).off("SIGTERM", pass);
}

/** Waits for a lab that another process is starting. */
export async function waitUntilReady(paths: InstancePaths): Promise<LabState> {
  return waitFor(
    () => {
      const state = readLiveState(paths);
      if (!state) throw new Error("The lab that was starting has stopped. See .lab/<instance>/logs/supervisor.log.");
      return state.status === "ready" ? state : null;
    },
    { what: "the lab that is starting to be ready", timeoutMs: START_TIMEOUT_MS, pollMs: 200 },
  );
}

/** The running lab, else a new one in the background. */
export async function ensureUp(start: DetachedStart): Promise<LabState> {
  const live = readLiveState(start.paths);
  if (live?.status === "ready") return live;
  if (live?.status === "starting") return waitUntilReady(start.paths);
  if (live) await waitFor(() => !readLiveState(start.paths), { what: "the lab to stop", timeoutMs: STOP_TIMEOUT_MS });
  return startDetached(start);
}

/**
 * Stops a lab and everything that it started, and the processes that a crashed lab left running.
 * @returns a sentence that says what was stopped
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
    return `Stopped processes that a crashed lab had left running: ${orphans.join(", ")} (${seconds} s).`;
  return "The lab is not running.";
}
