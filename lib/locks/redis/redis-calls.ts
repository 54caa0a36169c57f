import type { RedisCommands } from "./redis-port";
import { asRedisError, type RedisScript, runScript } from "./script";

/** Commands of one strategy about one resource: an ioredis client whose failures are LockErrors that say where. */
export class RedisCalls {
  readonly #client: RedisCommands;
  readonly #where: { readonly strategyId: string; readonly resource: string };

  constructor(client: RedisCommands, where: { readonly strategyId: string; readonly resource: string }) {
    this.#client = client;
    this.#where = where;
  }

  /** @throws {LockError} `backend_unavailable`, `config_invalid` */
  call(command: string, ...parameters: (string | number)[]): Promise<unknown> {
    return this.#named(this.#client.call(command, ...parameters));
  }

  /** @throws {LockError} `backend_unavailable`, `config_invalid` */
  run(script: RedisScript, keys: readonly string[], values: readonly (string | number)[] = []): Promise<unknown> {
    return this.#named(runScript(this.#client, script, { keys, values }));
  }

  async #named(answer: Promise<unknown>): Promise<unknown> {
    try {
      return await answer;
    } catch (error) {
      throw asRedisError(error, this.#where);
    }
  }
}
