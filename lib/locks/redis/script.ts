import { createHash } from "node:crypto";
import { LockError } from "../errors";
import type { RedisCommands } from "./redis-port";

/** A Lua script and the name the server caches it under. Scripts are atomic: nothing else runs meanwhile. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

export interface ScriptCall {
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

export function defineScript(source: string): RedisScript {
  return { source, sha1: createHash("sha1").update(source).digest("hex") };
}

/** By hash; by source where the server does not know it (first use, or restarted since). */
export async function runScript(client: RedisCommands, script: RedisScript, call: ScriptCall): Promise<unknown> {
  const parameters = [call.keys.length, ...call.keys, ...call.values];
  try {
    return await client.call("EVALSHA", script.sha1, ...parameters);
  } catch (error) {
    if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
    return client.call("EVAL", script.source, ...parameters);
  }
}

/** Answers that mean "not now" although the server did answer. */
const NOT_SERVING = /^(LOADING|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|OOM|BUSY|MISCONF|NOREPLICAS)\b/;

/**
 * Names the failure of a command. No answer, or an answer that the server is not serving, is `backend_unavailable`;
 * any other refusal (wrong type under the key, no permission) will not go away by asking again: `config_invalid`.
 */
export function asRedisError(error: unknown, where: { strategyId: string; resource: string }): LockError {
  const message = messageOf(error);
  const isRefusal = error instanceof Error && error.name === "ReplyError" && !NOT_SERVING.test(message);
  const code = isRefusal ? "config_invalid" : "backend_unavailable";
  return new LockError({ ...where, code, message: `Redis: ${message}`, isDefinite: true, cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
