import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { ownerlessKey } from "../locks/redis/ownerless";
import { redisOptionsForSession } from "../locks/redis/redis-options";
import type { RedisSession } from "../locks/redis/redis-port";
import { openRedisSession } from "../locks/redis/redis-session";
import type { StrategyTraits } from "../locks/types";
import { elapsedMs, nowNs } from "../services/monotonic";
import { noteOrderedEnd } from "../services/ordered-end";
import { resourceOf, type StockTarget } from "../stock/types";
import { FaultMissed } from "./fault";

const POLL_MS = 5;
/** How long a server's supervisor may take to start it again. */
const RESTART_LIMIT_MS = 20_000;

/** Runs commands on one connection to a Redis of the lab. @throws FaultMissed if Redis does not answer */
export async function withRedis<T>(url: string, work: (redis: RedisSession) => Promise<T>): Promise<T> {
  const redis = openRedisSession(url);
  try {
    return await work(redis);
  } catch (error) {
    throw error instanceof FaultMissed ? error : new FaultMissed(`Redis did not answer: ${(error as Error).message}`);
  } finally {
    redis.close();
  }
}

/** The key of a strategy's lock in Redis. */
export function lockKeyOf({ id, ownerless }: StrategyTraits, target: StockTarget): string {
  return ownerless ? ownerlessKey(id, resourceOf(target)) : resourceOf(target);
}

/** The value of a setting. */
export async function configOf(redis: RedisSession, name: string): Promise<string> {
  const [, value] = (await redis.call("CONFIG", "GET", name)) as readonly unknown[];
  return String(value);
}

/** Sends commands as one message on a new connection: Redis executes all of them, and no command of another client between. */
export async function inOneMessage(url: string, commands: readonly (readonly string[])[]): Promise<unknown[]> {
  const client = new Redis(url, redisOptionsForSession);
  client.on("error", () => {});
  try {
    await client.ping();
    const answers = await client.pipeline(commands.map((command) => ["call", ...command])).exec();
    const failure = answers?.find(([error]) => error)?.[0];
    if (failure) throw failure;
    return (answers ?? []).map(([, answer]) => answer);
  } finally {
    client.disconnect();
  }
}

/** A process of a Redis server. */
export interface RedisProcess {
  /** Random for each process. */
  readonly runId: string;
  readonly pid: number;
  /** Keys that it loaded from its disk when it started. */
  readonly loadedKeys: number;
}

export async function redisProcess(redis: RedisSession): Promise<RedisProcess> {
  const server = String(await redis.call("INFO", "server"));
  const persistence = String(await redis.call("INFO", "persistence"));
  const runId = fieldOf(server, "run_id");
  // An append-only file restores every key, and INFO does not count them.
  if (fieldOf(persistence, "aof_enabled") === "1") throw new FaultMissed("Redis keeps its data in an append-only file");
  const pid = Number(fieldOf(server, "process_id"));
  return { runId, pid, loadedKeys: Number(fieldOf(persistence, "rdb_last_load_keys_loaded")) };
}

/** Ends the server's process without saving. It answers only if it refuses. */
export async function shutDownRedis(redis: RedisSession, { pid }: Pick<RedisProcess, "pid">): Promise<void> {
  noteOrderedEnd(pid);
  const refusal = await redis.call("SHUTDOWN", "NOSAVE").then(
    () => null,
    (error: Error) => (redis.isLost ? null : error),
  );
  if (refusal) throw new FaultMissed(`Redis did not shut down: ${refusal.message}`);
}

/**
 * Waits until the server's supervisor has started it again, without its keys. @returns the new process
 * @throws FaultMissed if no other process answers, or if it loaded keys
 */
export async function untilRestartedEmpty(url: string, { runId }: RedisProcess): Promise<RedisProcess> {
  const beganNs = nowNs();
  while (elapsedMs(beganNs) < RESTART_LIMIT_MS) {
    const found = await withRedis(url, redisProcess).catch(() => null);
    if (found && found.runId !== runId) return emptyProcess(found);
    await delay(POLL_MS);
  }
  throw new FaultMissed(`Redis did not answer within ${RESTART_LIMIT_MS / 1_000} s; nothing started it again`);
}

function emptyProcess(process: RedisProcess): RedisProcess {
  if (process.loadedKeys === 0) return process;
  throw new FaultMissed(`Redis loaded ${process.loadedKeys} keys from its disk when it started`);
}

export function fieldOf(info: string, name: string): string {
  const value = new RegExp(`^${name}:(\\S*)`, "m").exec(info)?.[1];
  if (value === undefined) throw new FaultMissed(`INFO of this Redis has no ${name}; Redis 7 or later has it`);
  return value;
}
