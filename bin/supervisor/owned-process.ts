import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, readFileSync } from "node:fs";
import type { ProcessSpec } from "../../servers/provisioning";
import { startOf } from "../shared/process-identity.mjs";
import { openLog } from "./log-files";
import type { RecordedProcess } from "./state";
import { waitFor } from "./wait-for";

/** A process that the lab started; the process and its descendants form a process group. */

export interface ProcessEvents {
  /** The pid changed: the process started, restarted or exited. */
  readonly onChange: () => void;
  /** A line for the log, such as a restart. */
  readonly onNote: (sentence: string) => void;
}

/** The lab stops restarting a process after this many restarts within the window. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
const RESTART_DELAY_MS = 200;
const DEFAULT_STOP_TIMEOUT_MS = 8_000;
const KILL_TIMEOUT_MS = 5_000;

export class OwnedProcess {
  readonly spec: ProcessSpec;
  private child: ChildProcess | null = null;
  private start = "";
  private isStopping = false;
  /** True once the process was ready: the caller reports a process that fails to start. */
  private restartsItself = false;
  private lastExit = "";
  private restartTimes: number[] = [];
  private restartCount = 0;
  private restartTimer: NodeJS.Timeout | null = null;
  private readonly events: ProcessEvents;

  constructor(spec: ProcessSpec, events: ProcessEvents) {
    this.spec = spec;
    this.events = events;
  }

  /** Starts the process and waits until it is ready. From then on it restarts when it exits unexpectedly. */
  async startAndWait(signal?: AbortSignal): Promise<void> {
    this.spawn();
    let wasReady = false;
    try {
      await waitFor(
        async () => {
          if (!this.child) throw new Error(this.explainExit());
          return this.spec.isReady();
        },
        { what: `waiting for ${this.spec.name} to answer`, timeoutMs: this.spec.readyTimeoutMs, signal },
      );
      wasReady = true;
    } finally {
      if (!wasReady) await this.stop();
    }
    this.restartsItself = true;
  }

  /** The process as the state file records it; null while it is not running. */
  get recorded(): RecordedProcess | null {
    if (!this.child?.pid) return null;
    const { name, logFile } = this.spec;
    return { name, pid: this.child.pid, start: this.start, logFile, restarts: this.restartCount };
  }

  /** Stops the process and its descendants: by its stop signal, then by SIGKILL. Returns when it has exited. */
  async stop(): Promise<void> {
    this.isStopping = true;
    if (this.restartTimer) clearTimeout(this.restartTimer);
    const pid = this.child?.pid;
    if (!this.child || pid === undefined) return;
    const isGone = () => this.child === null;
    this.signalLeader(this.spec.stopSignal ?? "SIGTERM");
    const timeoutMs = this.spec.stopTimeoutMs ?? DEFAULT_STOP_TIMEOUT_MS;
    await waitFor(isGone, { what: this.spec.name, timeoutMs }).catch(() => {
      this.events.onNote(`${this.spec.name} did not exit within ${timeoutMs} ms; killed`);
    });
    signalGroup(pid, "SIGKILL");
    await waitFor(isGone, { what: `${this.spec.name} to end after SIGKILL`, timeoutMs: KILL_TIMEOUT_MS });
  }

  private spawn(): void {
    const { spec } = this;
    const log = openLog(spec.logFile);
    try {
      const child = spawn(spec.command, spec.args, {
        cwd: spec.cwd,
        env: spec.env as NodeJS.ProcessEnv,
        detached: true, // Its own process group: Ctrl-C in the terminal reaches only the supervisor.
        stdio: ["ignore", log, log],
        uid: spec.user?.uid,
        gid: spec.user?.gid,
      });
      this.child = child;
      this.start = (child.pid && startOf(child.pid)) || "";
      child.once("error", (error) => this.ended(child, error.message));
      child.once("exit", (code, signal) => this.ended(child, signal ?? `exit code ${code}`));
    } finally {
      closeSync(log);
    }
    this.events.onChange();
  }

  private ended(child: ChildProcess, how: string): void {
    if (this.child !== child) return;
    this.child = null;
    this.lastExit = how;
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL"); // Descendants must not outlive the process.
    this.events.onChange();
    if (!this.isStopping && this.restartsItself) this.scheduleRestart();
  }

  private scheduleRestart(): void {
    const nowMs = performance.now();
    this.restartTimes = this.restartTimes.filter((atMs) => nowMs - atMs < RESTART_WINDOW_MS);
    if (this.restartTimes.length >= MAX_RESTARTS) {
      this.events.onNote(
        `${this.spec.name} exited (${this.lastExit}) ${MAX_RESTARTS + 1} times in ${RESTART_WINDOW_MS / 1000} s; no further restart. See ${this.spec.logFile}`,
      );
      return;
    }
    const delayMs = RESTART_DELAY_MS * 2 ** this.restartTimes.length;
    this.restartTimes.push(nowMs);
    this.restartCount += 1;
    this.events.onNote(`${this.spec.name} exited (${this.lastExit}); restarting in ${delayMs} ms`);
    this.restartTimer = setTimeout(() => this.spawn(), delayMs);
  }

  /** Only the leader: servers such as PostgreSQL stop their children in order themselves. */
  private signalLeader(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  private explainExit(): string {
    const tail = tailOf(this.spec.logFile, 6);
    return `${this.spec.name} exited during its start (${this.lastExit})${tail === "" ? "" : `:\n${tail}`}\n  log: ${this.spec.logFile}`;
  }
}

/** Signals a process group. Does nothing if the group no longer exists. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // EPERM: macOS returns it for a group whose members are all dead.
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** The last lines of a log, for an error message. */
export function tailOf(file: string, lines: number): string {
  if (!existsSync(file)) return "";
  const all = readFileSync(file, "utf8").trimEnd().split("\n");
  return all
    .slice(-lines)
    .map((line) => `    ${line}`)
    .join("\n");
}
