import type { RedisCommands } from "../../lib/locks/redis/redis-port";
import { defineScript, type RedisScript } from "../../lib/locks/redis/script";

/** Sends another text in place of a script. The simulated server runs that text. */
export function withScript(client: RedisCommands, script: RedisScript, source: string): RedisCommands {
  const mutated = defineScript(source);
  const replacements = new Map<unknown, string>([
    [script.sha1, mutated.sha1],
    [script.source, mutated.source],
  ]);
  return {
    call: (name, ...parameters) =>
      client.call(name, ...parameters.map((parameter) => replacements.get(parameter) ?? parameter)),
  };
}
