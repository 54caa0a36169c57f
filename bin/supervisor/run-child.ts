import { spawn } from "node:child_process";
import { signalGroup } from "./owned-process";
import { ROOT } from "./paths";

/** Runs a program in the foreground, in a process group that ends with it. */

export interface ChildOutcome {
  readonly code: number | null;
  /** Why this process ended it; null if it exited without that. */
  readonly endedBecause: string | null;
}

const TERM_GRACE_MS = 10_000;

export function runChild(task: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}): Promise<ChildOutcome> {
  const { command, args, env, limitMs, signal } = task;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(command, args, {
      cwd: ROOT,
      env: env as NodeJS.ProcessEnv,
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    let endedBecause: string | null = null;
    let killTimer: NodeJS.Timeout | undefined;
    const end = (why: string) => {
      if (!child.pid || endedBecause !== null) return;
      const { pid } = child;
      endedBecause = why;
      signalGroup(pid, "SIGTERM");
      killTimer = setTimeout(() => signalGroup(pid, "SIGKILL"), TERM_GRACE_MS);
    };
    const limit = setTimeout(() => end(`took longer than ${limitMs / 1000} s`), limitMs);
    const interrupt = () => end("interrupted");
    signal.addEventListener("abort", interrupt, { once: true });
    const cleanUp = () => {
      clearTimeout(limit);
      clearTimeout(killTimer);
      signal.removeEventListener("abort", interrupt);
    };
    child.once("error", (cause) => {
      cleanUp();
      reject(new Error(`${command} could not be started: ${cause.message}`, { cause }));
    });
    child.once("exit", (code) => {
      cleanUp();
      if (child.pid) signalGroup(child.pid, "SIGKILL"); // Ends a browser or server that a test left running.
      resolve({ code, endedBecause });
    });
  });
}
