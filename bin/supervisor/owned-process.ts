import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, readFileSync } from "node:fs";
import { startResumeTimer } from "../../lib/node/resume-timer";
import type { ProcessSpec } from "../../servers/provisioning";
import { startOf } from "../shared/process-identity.mjs";
import { openLog } from "./log-files";
import type { FailedProcess, RecordedProcess } from "./state";
import { waitFor } from "./wait-for";

/** A process that the lab started; the process and its descendants form a process group. */

export interface ProcessEvents {
  /** The pid changed: the process started, restarted or exited. */
  readonly onChange: () => void;
  /** True if a fault of the lab ended the process on purpose: such an end is no crash. Absent: never. */
  readonly wasOrdered?: (pid: number) => boolean;
  /** A line for the log, such as a restart. */
  readonly onNote: (sentence: string) => void;
}

/** After this many restarts within the window a process counts as failed, and is restarted at a long interval only. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
const DELAYS = { restartMs: 200, retryMs: 30_000 };
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
  private failure: string | null = null;
  private readonly events: ProcessEvents;
  private readonly delays: typeof DELAYS;
  private readonly stopping = new AbortController();

  constructor(spec: ProcessSpec, events: ProcessEvents, delays: typeof DELAYS = DELAYS) {
    this.spec = spec;
    this.events = events;
    this.delays = delays;
  }

  /** Starts the process and waits until it is ready. From then on it restarts when it exits, unless it stays down. */
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
    this.restartsItself = this.spec.staysDown !== true;
  }

  /** The process as the state file records it; null while it is not running. */
  get recorded(): RecordedProcess | null {
    if (!this.child?.pid) return null;
    const { name, logFile } = this.spec;
    return { name, pid: this.child.pid, start: this.start, logFile, restarts: this.restartCount };
  }

  /** Why the process keeps exiting; null if it does not. */
  get failed(): FailedProcess | null {
    const { name, logFile } = this.spec;
    return this.failure === null ? null : { name, reason: this.failure, logFile };
  }

  /** Starts a failed process now. */
  revive(): void {
    if (this.failure === null || this.child || this.isStopping) return;
    this.events.onNote(`${this.spec.name}: trying again`);
    this.restart();
  }

  /** Stops the process and its descendants: by its stop signal, then by SIGKILL. Returns when it has exited. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.stopping.abort();
    if (this.restartTimer) clearTimeout(this.restartTimer);
    const pid = this.child?.pid;
    if (!this.child || pid === undefined) return;
    const isGone = () => this.child === null;
    this.signalLeader(this.spec.stopSignal ?? "SIGTERM");
    this.resume(); // A paused process would not get the signal.
    const timeoutMs = this.spec.stopTimeoutMs ?? DEFAULT_STOP_TIMEOUT_MS;
    await waitFor(isGone, { what: this.spec.name, timeoutMs }).catch(() => {
      this.events.onNote(`${this.spec.name} did not exit within ${timeoutMs} ms; killed`);
    });
    signalGroup(pid, "SIGKILL");
    await waitFor(isGone, { what: `${this.spec.name} to end after SIGKILL`, timeoutMs: KILL_TIMEOUT_MS });
  }

  /** SIGKILL to the process and its descendants, as in a crash. Returns when it has exited. */
  async kill(): Promise<void> {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error(`${this.spec.name} is not running`);
    signalGroup(pid, "SIGKILL");
    const isGone = () => this.child?.pid !== pid;
    await waitFor(isGone, { what: `${this.spec.name} to end after SIGKILL`, timeoutMs: KILL_TIMEOUT_MS, pollMs: 5 });
  }

  /**
   * Stops the process (SIGSTOP) for this time. A detached timer resumes it, also if the lab dies before that.
   * @throws Error if it is not running
   */
  pause(durationMs: number): void {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error(`${this.spec.name} is not running`);
    if (!startResumeTimer(pid, durationMs)) {
      throw new Error(`${this.spec.name} was not paused, because the process that resumes it did not start`);
    }
    this.signalLeader("SIGSTOP");
  }

  /** Lets a paused process continue before its time. */
  resume(): void {
    this.signalLeader("SIGCONT");
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
    if (this.isStopping || !this.restartsItself) return;
    if (child.pid !== undefined && this.events.wasOrdered?.(child.pid)) this.restartAfter(this.delays.restartMs);
    else this.scheduleRestart();
  }

  private scheduleRestart(): void {
    const nowMs = performance.now();
    this.restartTimes = this.restartTimes.filter((atMs) => nowMs - atMs < RESTART_WINDOW_MS);
    if (this.failure !== null || this.restartTimes.length >= MAX_RESTARTS) {
      this.fail();
      return;
    }
    const delayMs = this.delays.restartMs * 2 ** this.restartTimes.length;
    this.restartTimes.push(nowMs);
    this.restartAfter(delayMs);
  }

  private restartAfter(delayMs: number): void {
    this.events.onNote(`${this.spec.name} exited (${this.lastExit}); restarting in ${delayMs} ms`);
    this.restartTimer = setTimeout(() => this.restart(), delayMs);
  }

  private fail(): void {
    const { name, logFile } = this.spec;
    const { retryMs } = this.delays;
    const isNew = this.failure === null;
    this.failure = `${name} exited ${MAX_RESTARTS + 1} times in ${RESTART_WINDOW_MS / 1000} s, last with ${this.lastExit}. The lab tries to start it every ${retryMs / 1000} s.`;
    if (isNew) this.events.onNote(`${this.failure} See ${logFile}`);
    this.restartTimer = setTimeout(() => this.restart(), retryMs);
    this.events.onChange();
  }

  private restart(): void {
    if (this.restartTimer) clearTimeout(this.restartTimer);
    this.restartCount += 1;
    try {
      this.spawn();
      if (this.failure !== null) void this.awaitRecovery();
    } catch (error) {
      // For example a full disk on which no log can be created.
      this.lastExit = error instanceof Error ? error.message : String(error);
      this.scheduleRestart();
    }
  }

  private async awaitRecovery(): Promise<void> {
    const { name, isReady, readyTimeoutMs } = this.spec;
    const { child } = this;
    const isOver = async () => this.child !== child || (await isReady());
    const wait = { what: name, timeoutMs: readyTimeoutMs, signal: this.stopping.signal };
    const ended = await waitFor(isOver, wait).catch(() => false);
    if (!ended || this.child !== child) return;
    this.failure = null;
    this.restartTimes = [];
    this.events.onNote(`${name} is running again`);
    this.events.onChange();
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
