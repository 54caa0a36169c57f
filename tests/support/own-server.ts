import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { waitUntil } from "./wait-until";

/** A separate server process for a test, which can be killed, paused and restarted. */
export interface OwnServer extends AsyncDisposable {
  kill(): Promise<void>;
  /** Restarts it on the same port. */
  start(): Promise<void>;
  /** Pauses the process: connections stay open, but no request is answered. */
  pause(): void;
  resume(): void;
}

export interface OwnServerPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly isReady: () => Promise<boolean>;
}

export async function startOwnServer({ command, args, isReady }: OwnServerPlan): Promise<OwnServer> {
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    child = spawn(command, args, { stdio: "ignore" });
    child.on("error", (error) => {
      throw new Error(`these tests need ${command}; install it and add it to the PATH`, { cause: error });
    });
    await waitUntil(isReady, { what: `${command} to answer`, withinMs: 30_000 });
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  await start();
  return {
    start,
    kill,
    pause: () => child?.kill("SIGSTOP"),
    resume: () => child?.kill("SIGCONT"),
    [Symbol.asyncDispose]: kill,
  };
}
