/**
 * The Redis client that the library needs: one command, one answer. An ioredis client fits as it is. The simulator has
 * another.
 */
export interface RedisCommands {
  call(command: string, ...parameters: (string | number)[]): Promise<unknown>;
}

/**
 * An exclusive connection, for commands that depend on connection state (`WATCH`). It does not reconnect: a new
 * connection would not have the watches of the old one.
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
    /** Replicas that must have a lock of `redis-lock` before it is granted. Absent: 0. */
    readonly redisWaitReplicas?: number;
  }
}
