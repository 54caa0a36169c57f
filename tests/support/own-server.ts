import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { isStopped } from "./process-state";
import { waitUntil } from "./wait-until";

/** A separate server process for a test, which can be killed, paused and restarted. */
export interface OwnServer extends AsyncDisposable {
  kill(): Promise<void>;
  /** Restarts it on the same port. */
  start(): Promise<void>;
  /** Pauses the process: connections stay open, but no request is answered from now on. */
  pause(): Promise<void>;
  resume(): void;
}

export interface OwnServerPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isReady: () => Promise<boolean>;
  /** True: it starts again when it ends without a call of `kill`, as under the lab's supervisor. */
  readonly isSupervised?: boolean;
}

export async function startOwnServer({
  command,
  args,
  env = {},
  isReady,
  isSupervised,
}: OwnServerPlan): Promise<OwnServer> {
  let child: ChildProcess | null = null;

  function spawnChild(): void {
    const own = spawn(command, args, { stdio: "ignore", env: { ...process.env, ...env } });
    child = own;
    own.on("error", (error) => {
      throw new Error(`these tests need ${command}; install it and add it to the PATH`, { cause: error });
    });
    own.on("exit", () => {
      if (isSupervised && child === own) spawnChild();
    });
  }

  async function start(): Promise<void> {
    spawnChild();
    await waitUntil(isReady, { what: `${command} to answer`, withinMs: 30_000 });
  }

  async function kill(): Promise<void> {
    const own = child;
    child = null;
    if (!own || own.exitCode !== null || own.signalCode !== null) return;
    const exit = once(own, "exit");
    own.kill("SIGKILL");
    await exit;
  }

  async function pause(): Promise<void> {
    const { pid } = child ?? {};
    if (pid === undefined) throw new Error(`${command} does not run, so it cannot be paused`);
    process.kill(pid, "SIGSTOP");
    await waitUntil(() => isStopped(pid), { what: `${command} to stop` });
  }

  await start();
  return {
    start,
    kill,
    pause,
    resume: () => child?.kill("SIGCONT"),
    [Symbol.asyncDispose]: kill,
  };
}
