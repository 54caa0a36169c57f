import { type SpawnOptions, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child; nothing is inherited. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Both output streams go here. */
  readonly logFile: string;
  /** The child is told to stop (SIGINT) after this long, and killed `graceMs` later. */
  readonly limitMs: number;
  readonly graceMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called once the process is there; what it answers is called when the process is over. */
  readonly onStart?: (pid: number) => () => void;
}

export interface ChildResult {
  /** Null when a signal ended it or it never started. */
  readonly exitCode: number | null;
  /** Why it did not come to its own end; null when it did. */
  readonly stoppedBecause: string | null;
  readonly elapsedMs: number;
}

/** Runs a process to its end within a bound. Resolves whatever happens to it. */
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

/** Why an engine's load failed, in one sentence, with the last lines that the process wrote. */
export async function failureOf(who: string, result: ChildResult, logFile: string): Promise<string> {
  const text = await readFile(logFile, "utf8").catch((error: Error) => `no log: ${error.message}`);
  const tail = text.trim().split("\n").slice(-3).join(" | ").slice(-600);
  const what = result.stoppedBecause ?? `exit code ${result.exitCode}`;
  return `${who} did not finish the load: ${what}.${tail === "" ? "" : ` It last said: ${tail}`}`;
}

/** What a child may inherit: enough to find programs and temporary files, nothing that changes what it does. */
export function baseEnvironment(source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const names = ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH"];
  const inherited = Object.fromEntries(names.map((name) => [name, source[name]]));
  return { ...inherited, NODE_ENV: "production" };
}
