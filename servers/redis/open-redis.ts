import type { Redis, RedisOptions } from "ioredis";
import { redisAt } from "../../lib/locks/redis/redis-at";
import { redisOptionsForLocks } from "../../lib/locks/redis/redis-options";
import type { Opening } from "../server-kind";

/** Opens a client that reports an outage once, not at every attempt to reconnect: a lock reports each failed command. */
export function openRedis(url: string, opening: Opening, options: RedisOptions = redisOptionsForLocks): Redis {
  const client = redisAt(url, options);
  let isReported = false;
  client.on("connect", () => {
    isReported = false;
  });
  client.on("error", (error: Error) => {
    if (!isReported) opening.onOutage(error.message, { port: client.options.port });
    isReported = true;
  });
  opening.onClose(async () => client.disconnect());
  return client;
}
