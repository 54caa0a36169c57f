import { createHash } from "node:crypto";
import { LockError } from "../errors";
import type { RedisCommands } from "./redis-port";

/**
 * A Lua script and the hash that the server caches it under. Scripts are atomic: the server runs no other command
 * meanwhile.
 */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

export interface ScriptCall {
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

const defined = new Map<string, RedisScript>();

export function defineScript(source: string): RedisScript {
  const script = { source, sha1: createHash("sha1").update(source).digest("hex") };
  defined.set(script.sha1, script);
  return script;
}

/** The source of a script that this process has defined; undefined for another one. */
export function scriptSource(sha1: string): string | undefined {
  return defined.get(sha1)?.source;
}

/** Calls the script by hash, and by source if the server has not cached it (first use, or a restart). */
export async function runScript(client: RedisCommands, script: RedisScript, call: ScriptCall): Promise<unknown> {
  const parameters = [call.keys.length, ...call.keys, ...call.values];
  try {
    return await client.call("EVALSHA", script.sha1, ...parameters);
  } catch (error) {
    if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
    return client.call("EVAL", script.source, ...parameters);
  }
}

/** Error replies of a server that cannot serve the command now. */
const TEMPORARY_ERRORS = /^(LOADING|MASTERDOWN|READONLY|CLUSTERDOWN|TRYAGAIN|OOM|BUSY|MISCONF|NOREPLICAS)\b/;

/**
 * Converts a failed command into a LockError. No answer, or a temporary error reply, is `backend_unavailable`. Any
 * other error reply (wrong type of key, no permission) would repeat on retry and is `config_invalid`.
 */
export function asRedisError(error: unknown, errorContext: { strategyId: string; resource: string }): LockError {
  const message = messageOf(error);
  const isRefusal = error instanceof Error && error.name === "ReplyError" && !TEMPORARY_ERRORS.test(message);
  const code = isRefusal ? "config_invalid" : "backend_unavailable";
  return new LockError({ ...errorContext, code, message: `Redis: ${message}`, isDefinite: true, cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
