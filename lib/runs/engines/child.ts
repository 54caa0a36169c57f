import { type SpawnOptions, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment of the child: it inherits no variables. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Receives stdout and stderr. */
  readonly logFile: string;
  /** After this time the child gets SIGINT, and SIGKILL `graceMs` later. */
  readonly limitMs: number;
  readonly graceMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called when the process has started; the returned function is called when it has ended. */
  readonly onStart?: (pid: number) => undefined | (() => void);
}

export interface ChildResult {
  /** Null if a signal ended it, or it did not start. */
  readonly exitCode: number | null;
  /** Why it did not exit by itself; null if it did. */
  readonly stoppedBecause: string | null;
  readonly elapsedMs: number;
}

/** Runs a process with a time limit. Never rejects because of the process: see `stoppedBecause`. */
export async function runChild(child: ChildCommand): Promise<ChildResult> {
  const startedAtMs = performance.now();
  await mkdir(dirname(child.logFile), { recursive: true });
  const log = await open(child.logFile, "a");
  try {
    const ending = await spawnAndWait(child, log.fd);
    return { ...ending, elapsedMs: performance.now() - startedAtMs };
  } finally {
    await log.close();
  }
}

function spawnAndWait(child: ChildCommand, logFd: number): Promise<Omit<ChildResult, "elapsedMs">> {
  return new Promise((resolve) => {
    if (child.signal?.aborted) {
      resolve({ exitCode: null, stoppedBecause: "it was stopped before it started" });
      return;
    }
    const options: SpawnOptions = { cwd: child.cwd, env: child.env, stdio: ["ignore", logFd, logFd] };
    const process = spawn(child.command, child.args, options);
    const onEnd = process.pid === undefined ? undefined : child.onStart?.(process.pid);
    let stoppedBecause: string | null = null;
    let killTimer: NodeJS.Timeout | undefined;
    const stop = (reason: string) => {
      if (stoppedBecause !== null) return;
      stoppedBecause = reason;
      process.kill("SIGINT");
      killTimer = setTimeout(() => process.kill("SIGKILL"), child.graceMs);
    };
    const onAbort = () => stop("it was stopped");
    const limitTimer = setTimeout(() => stop(`it ran longer than ${child.limitMs / 1_000} s`), child.limitMs);
    child.signal?.addEventListener("abort", onAbort, { once: true });
    const finish = (exitCode: number | null, reason: string | null) => {
      onEnd?.();
      clearTimeout(limitTimer);
      clearTimeout(killTimer);
      child.signal?.removeEventListener("abort", onAbort);
      resolve({ exitCode, stoppedBecause: stoppedBecause ?? reason });
    };
    process.once("error", (error) => finish(null, `it could not be started: ${error.message}`));
    process.once("exit", (code, signal) => finish(code, signal ? `it was ended by ${signal}` : null));
  });
}

/** Why an engine failed, in one sentence, with the last lines of its log. */
export async function failureOf(engine: string, result: ChildResult, logFile: string): Promise<string> {
  const text = await readFile(logFile, "utf8").catch((error: Error) => `no log: ${error.message}`);
  const tail = text.trim().split("\n").slice(-3).join(" | ").slice(-600);
  const what = result.stoppedBecause ?? `exit code ${result.exitCode}`;
  return `${engine} did not finish the load: ${what}.${tail === "" ? "" : ` Its last output: ${tail}`}`;
}

/** The variables that a child needs to find programs and temporary files. Settings of the lab are left out. */
export function baseEnvironment(source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const names = ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH"];
  const inherited = Object.fromEntries(names.map((name) => [name, source[name]]));
  return { ...inherited, NODE_ENV: "production" };
}
