import type { RedisCommands } from "./redis-port";
import { asRedisError, type RedisScript, runScript } from "./script";

/** Sends commands for one strategy and resource. Failures become LockErrors that name both. */
export class RedisCalls {
  readonly #client: RedisCommands;
  readonly #errorContext: { readonly strategyId: string; readonly resource: string };

  constructor(client: RedisCommands, errorContext: { readonly strategyId: string; readonly resource: string }) {
    this.#client = client;
    this.#errorContext = errorContext;
  }

  /** @throws {LockError} `backend_unavailable`, `config_invalid` */
  call(command: string, ...parameters: (string | number)[]): Promise<unknown> {
    return this.#withLockError(this.#client.call(command, ...parameters));
  }

  /** @throws {LockError} `backend_unavailable`, `config_invalid` */
  run(script: RedisScript, keys: readonly string[], values: readonly (string | number)[] = []): Promise<unknown> {
    return this.#withLockError(runScript(this.#client, script, { keys, values }));
  }

  async #withLockError(reply: Promise<unknown>): Promise<unknown> {
    try {
      return await reply;
    } catch (error) {
      throw asRedisError(error, this.#errorContext);
    }
  }
}
