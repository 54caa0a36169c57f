import type { RedisSession } from "../locks/redis/redis-port";
import { openRedisSession } from "../locks/redis/redis-session";
import { env } from "../services/current-env";
import { FaultMissed } from "./fault";

/** Runs commands on one connection to the lab's Redis. @throws FaultMissed if Redis does not answer */
export async function withRedis<T>(work: (redis: RedisSession) => Promise<T>): Promise<T> {
  const redis = openRedisSession(env().REDIS_URL ?? "");
  try {
    return await work(redis);
  } catch (error) {
    throw error instanceof FaultMissed ? error : new FaultMissed(`Redis did not answer: ${(error as Error).message}`);
  } finally {
    redis.close();
  }
}

/** A process of a Redis server. */
export interface RedisProcess {
  /** Random for each process. */
  readonly runId: string;
  /** Keys that it loaded from its disk when it started. */
  readonly loadedKeys: number;
}

export async function redisProcess(redis: RedisSession): Promise<RedisProcess> {
  const server = String(await redis.call("INFO", "server"));
  const persistence = String(await redis.call("INFO", "persistence"));
  const runId = fieldOf(server, "run_id");
  // An append-only file restores every key, and INFO does not count them.
  if (fieldOf(persistence, "aof_enabled") === "1") throw new FaultMissed("Redis keeps its data in an append-only file");
  return { runId, loadedKeys: Number(fieldOf(persistence, "rdb_last_load_keys_loaded")) };
}

/** Ends the server without saving. It answers only if it refuses. */
export async function shutDownRedis(redis: RedisSession): Promise<void> {
  const refusal = await redis.call("SHUTDOWN", "NOSAVE").then(
    () => null,
    (error: Error) => (redis.isLost ? null : error),
  );
  if (refusal) throw new FaultMissed(`Redis did not shut down: ${refusal.message}`);
}

function fieldOf(info: string, name: string): string {
  const value = new RegExp(`^${name}:(\\S*)`, "m").exec(info)?.[1];
  if (value === undefined) throw new FaultMissed(`INFO of this Redis has no ${name}; Redis 7 or later has it`);
  return value;
}
