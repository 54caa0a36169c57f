/**
 * All the library asks of a Redis client: one command, one answer. An ioredis client is one as it stands; the
 * simulator brings its own.
 */
export interface RedisCommands {
  call(command: string, ...parameters: (string | number)[]): Promise<unknown>;
}

/**
 * A connection that nobody else uses, for commands whose meaning hangs on it (`WATCH`). Once lost it stays so: a command
 * sent on a new connection would not know what the old one was watching.
 */
export interface RedisSession extends RedisCommands {
  readonly isLost: boolean;
  close(): void;
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** An ioredis client made with `redisOptionsForLocks`. */
    redis(): RedisCommands;
    /** A new session per call: `openRedisSession(url)`. The caller closes it. */
    redisSession(): RedisSession;
  }
}
