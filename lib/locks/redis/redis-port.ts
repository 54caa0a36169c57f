/**
 * All the library asks of a Redis client: one command, one answer. An ioredis client is one as it stands; the
 * simulator brings its own.
 */
export interface RedisCommands {
  call(command: string, ...parameters: (string | number)[]): Promise<unknown>;
}
