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

interface RedisToStart {
  /** Also the name of its port. */
  readonly name: string;
  readonly binary: string;
  /** Further settings. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: it is ready when it answers. */
  readonly isReady?: (port: number) => Promise<boolean>;
}

/** Starts one Redis. @returns its URL */
export async function startRedis(context: StartContext, server: RedisToStart): Promise<string> {
  const { name, binary, args = [], env = {}, isReady = answersPing } = server;
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
    args: [...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]), ...args],
    cwd: context.dataDir,
    env: serverEnv(env),
    logFile: path.join(context.logsDir, `${name}.log`),
    readyTimeoutMs: READY_TIMEOUT_MS,
    isReady: () => isReady(port),
  });
  return `redis://127.0.0.1:${port}`;
}

async function answersPing(port: number): Promise<boolean> {
  const request = { host: "127.0.0.1", port, send: "PING\r\n", timeoutMs: 1_000 };
  const answer = await askText({ ...request, isWhole: (text) => text.endsWith("\r\n") }).catch(() => "");
  return answer.startsWith("+PONG");
}

/** A section of INFO of a Redis or a Sentinel on this host; empty if it does not answer. */
export async function redisInfo(port: number, section: string): Promise<string> {
  const request = { host: "127.0.0.1", port, send: `INFO ${section}\r\n`, timeoutMs: 1_000 };
  return askText({ ...request, isWhole: isWholeBulk }).catch(() => "");
}

/** A bulk string: `$<length>`, and after that line as many bytes and an end of line. An error reply is one line. */
function isWholeBulk(answer: string): boolean {
  const [header, length] = /^\$(\d+)\r\n/.exec(answer) ?? [];
  if (header === undefined) return answer.startsWith("-") && answer.endsWith("\r\n");
  return Buffer.byteLength(answer) >= header.length + Number(length) + 2;
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
