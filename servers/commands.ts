import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import path from "node:path";

/** Finds and runs programs of this machine. */

/** The first executable with that name in PATH, in the usual server folders, or at one of the other paths. */
export function findExecutable(name: string, others: readonly string[] = []): string | null {
  const dirs = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  // Servers are installed there, but not every user has these folders in PATH.
  dirs.push("/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/homebrew/bin", "/usr/local/bin");
  const candidates = [...dirs.map((dir) => path.join(dir, name)), ...others];
  return candidates.find((file) => isExecutable(file)) ?? null;
}

export function isExecutable(file: string): boolean {
  if (!existsSync(file) || !statSync(file).isFile()) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Exists, but this user may not execute it.
  }
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** Runs a program until it exits or times out. A non-zero exit code is a result, not an error. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      uid: options.user?.uid,
      gid: options.user?.gid,
      timeout: options.timeoutMs,
      killSignal: "SIGKILL",
      stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      signal: options.signal,
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.once("error", (cause) => reject(new Error(`${command} failed to start: ${cause.message}`, { cause })));
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    if (options.input !== undefined) child.stdin?.end(options.input);
  });
}

/** The first line that looks like a version, for example from `redis-server --version`. */
export async function versionOf(command: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(command, args, { timeoutMs: 10_000 });
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout}\n${stderr}`)?.[0] ?? "unknown version";
}
