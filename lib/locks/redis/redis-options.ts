import type { RedisOptions } from "ioredis";

/**
 * ioredis options with which a lock detects a lost server quickly and correctly.
 *
 * - No command is sent twice: a `SET NX` resent after a reconnect could acquire a lock that no caller waits for.
 * - A command that cannot be sent fails at the first failed connect instead of after twenty.
 * - A server that stops answering is disconnected after `socketTimeout`; by default ioredis would wait for ever.
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

/**
 * For the subscriber connection. `shareSubscriber` resubscribes itself and reports that messages may have been missed.
 */
export const redisOptionsForSubscriber = {
  ...redisOptionsForLocks,
  autoResubscribe: false,
} as const satisfies RedisOptions;

/** For a `RedisSession`. */
export const redisOptionsForSession = {
  ...redisOptionsForLocks,
  retryStrategy: () => null,
} as const satisfies RedisOptions;
