import type { RedisOptions } from "ioredis";

/**
 * ioredis options under which a lock can tell the truth about a lost server.
 *
 * - No command is sent twice: a `SET NX` resent after a reconnect would be an acquire nobody waits for.
 * - A command that cannot be sent fails with the first failed connect instead of after twenty.
 * - A server that stops answering is dropped after `socketTimeout`; ioredis would keep a black hole for ever.
 */
export const redisOptionsForLocks = {
  lazyConnect: true,
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: true,
  maxRetriesPerRequest: 0,
  connectTimeout: 1_500,
  socketTimeout: 2_000,
  retryStrategy: (times: number) => Math.min(50 * times, 500),
  enableReadyCheck: false,
  disableClientInfo: true,
} as const satisfies RedisOptions;

/** For the connection that listens: whoever shares it subscribes again, and knows then that messages may be missing. */
export const redisOptionsForSubscriber = {
  ...redisOptionsForLocks,
  autoResubscribe: false,
} as const satisfies RedisOptions;

/** For a `RedisSession`. */
export const redisOptionsForSession = {
  ...redisOptionsForLocks,
  retryStrategy: () => null,
} as const satisfies RedisOptions;
