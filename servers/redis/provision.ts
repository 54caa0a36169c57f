import path from "node:path";
import { Redis } from "ioredis";
import { findExecutable, versionOf } from "../commands";
import {
  type FoundServer,
  PROBE_TIMEOUT_MS,
  type Provisioner,
  READY_TIMEOUT_MS,
  type StartContext,
  serverEnv,
} from "../provisioning";
import { askText } from "../text-protocol";

/** Redis for the single-server strategies, in memory only. */
export const provisioner: Provisioner = {
  find: findRedis,
  probe: probeRedis,
  start: (context, found) => startRedis(context, { name: "redis", binary: found.binary }),
};

export async function findRedis(): Promise<FoundServer | null> {
  const binary = findExecutable("redis-server") ?? findExecutable("valkey-server");
  return binary ? { binary, version: await versionOf(binary, ["--version"]) } : null;
}

/** Starts one Redis. @returns its URL */
export async function startRedis(
  context: StartContext,
  server: { readonly name: string; readonly binary: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const { name, binary, env = {} } = server;
  const port = context.port(name);
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir: context.dataDir,
    save: "",
    appendonly: "no",
    daemonize: "no",
  };
  await context.start({
    name,
    command: binary,
    args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]),
    cwd: context.dataDir,
    env: serverEnv(env),
    logFile: path.join(context.logsDir, `${name}.log`),
    readyTimeoutMs: READY_TIMEOUT_MS,
    isReady: () => answersPing(port),
  });
  return `redis://127.0.0.1:${port}`;
}

async function answersPing(port: number): Promise<boolean> {
  const request = { host: "127.0.0.1", port, send: "PING\r\n", timeoutMs: 1_000 };
  const answer = await askText({ ...request, isWhole: (text) => text.endsWith("\r\n") }).catch(() => "");
  return answer.startsWith("+PONG");
}

/** @returns the server's version */
export async function probeRedis(url: string): Promise<string> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PROBE_TIMEOUT_MS,
    commandTimeout: PROBE_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
  });
  let lastError: Error | undefined;
  client.on("error", (error: Error) => {
    lastError = error;
  });
  try {
    await client.connect();
    const info = await client.info("server");
    return /(?:redis|valkey)_version:(\S+)/.exec(info)?.[1] ?? "unknown version";
  } catch (cause) {
    throw lastError ?? cause;
  } finally {
    client.disconnect();
  }
}
