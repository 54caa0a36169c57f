import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** Starts `npm run lab -- sweep` as a process that a test can interrupt. */

const ROOT = path.resolve(import.meta.dirname ?? __dirname, "..", "..");

export interface SweepProcess {
  readonly child: ChildProcess;
  /** Standard output and standard error so far. */
  output(): string;
  /** Waits for the process to exit. @returns exit code and signal */
  ended(): Promise<readonly [number | null, NodeJS.Signals | null]>;
}

export function startSweep(labUrl: string, flags: readonly string[]): SweepProcess {
  const child = spawn(process.execPath, ["bin/bootstrap.mjs", "sweep", "--url", labUrl, ...flags], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const end = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  return { child, output: () => text, ended: () => end };
}
