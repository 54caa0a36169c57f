import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { Redis } from "ioredis";
import { waitUntil } from "./wait-until";

/** A redis-server of a test's own, to stop, pause and start. Keeps its data in memory only. */
export interface OwnRedis extends AsyncDisposable {
  readonly url: string;
  /** A client of the test's own, apart from the locks'. */
  readonly probe: Redis;
  /** Kills it; its data is gone. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it in its tracks: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
}

const FIRST_PORT = 21_000;
const PORTS = 9_000;

export async function startOwnRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  probe.on("error", () => {});
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    child = spawn("redis-server", settings, { stdio: "ignore" });
    child.on("error", (error) => {
      throw new Error("these tests need redis-server on the PATH", { cause: error });
    });
    await waitUntil(answers, { what: `redis-server on port ${port}` });
  }

  async function answers(): Promise<boolean> {
    const [ping] = await Promise.allSettled([probe.ping()]);
    return ping.status === "fulfilled";
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  await start();
  return {
    url,
    probe,
    start,
    kill,
    pause: () => child?.kill("SIGSTOP"),
    resume: () => child?.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      probe.disconnect();
      await kill();
    },
  };
}

/** Below the range the system hands out to outgoing connections. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("listening", () => resolve(true));
      server.once("error", () => resolve(false));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error("found no free port for a redis-server");
}
