import { spawn } from "node:child_process";
import type { Output } from "../shared/terminal";
import { signalGroup } from "./owned-process";
import { ROOT } from "./paths";

/** Runs a program in the foreground, in a process group that ends with it. */

export interface ChildOutcome {
  readonly code: number | null;
  /** Why this process ended it; null if it exited without that. */
  readonly endedBecause: string | null;
}

const TERM_GRACE_MS = 10_000;
/** For output that a process outside the group, which inherited the pipe, may hold open. */
const OUTPUT_GRACE_MS = 5_000;

export function runChild(task: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Receives what the program prints. By default the program prints to this terminal. */
  readonly output?: Output;
}): Promise<ChildOutcome> {
  const { command, args, env, limitMs, signal, output = process.stdout } = task;
  const stdio = output === process.stdout ? "inherit" : "pipe";
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(command, args, {
      cwd: ROOT,
      env: env as NodeJS.ProcessEnv,
      detached: true,
      stdio: ["ignore", stdio, stdio],
    });
    const pipes = [child.stdout, child.stderr].filter((pipe) => pipe !== null);
    for (const pipe of pipes) pipe.setEncoding("utf8").on("data", (text: string) => output.write(text));
    let endedBecause: string | null = null;
    let killTimer: NodeJS.Timeout | undefined;
    let outputLimit: NodeJS.Timeout | undefined;
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
    child.once("exit", () => {
      cleanUp();
      if (child.pid) signalGroup(child.pid, "SIGKILL"); // Ends a browser or server that a test left running.
      outputLimit = setTimeout(() => {
        for (const pipe of pipes) pipe.destroy();
      }, OUTPUT_GRACE_MS);
    });
    child.once("close", (code) => {
      clearTimeout(outputLimit);
      resolve({ code, endedBecause });
    });
  });
}
