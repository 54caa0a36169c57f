import { releaseScript, renewScript } from "../../lib/locks/redis/owner-scripts";
import { acquireScript } from "../../lib/locks/redis/redis-fenced";
import { enterNestedScript, extendScript, lockScript, unlockScript } from "../../lib/locks/redis/redisson-protocol";
import type { RedisScript } from "../../lib/locks/redis/script";
import type { SimRedis } from "./sim-redis";

export interface ScriptModel {
  readonly script: RedisScript;
  readonly run: (redis: SimRedis, keys: readonly string[], values: readonly string[]) => unknown;
}

type Texts = readonly string[];

function release(redis: SimRedis, [lock = ""]: Texts, [holder = ""]: Texts): unknown {
  return redis.command("GET", [lock]) === holder ? redis.releaseKey(lock, holder) : 0;
}

function renew(redis: SimRedis, [lock = ""]: Texts, [holder = "", ttlMs = ""]: Texts): unknown {
  return redis.command("GET", [lock]) === holder ? redis.renewKey(lock, holder, Number(ttlMs)) : 0;
}

function take(redis: SimRedis, [lock = "", counter = ""]: Texts, [holder = "", ttlMs = ""]: Texts): unknown {
  return redis.command("SET", [lock, holder, "NX", "PX", ttlMs]) === "OK" ? redis.command("INCR", [counter]) : null;
}

function lockReentrant(redis: SimRedis, [lock = ""]: Texts, [ttlMs = "", field = ""]: Texts): unknown {
  if (redis.command("EXISTS", [lock]) === 1 && redis.command("HEXISTS", [lock, field]) === 0)
    return redis.command("PTTL", [lock]);
  redis.command("HINCRBY", [lock, field, "1"]);
  redis.command("PEXPIRE", [lock, ttlMs]);
  return null;
}

function enterNested(redis: SimRedis, [lock = ""]: Texts, [ttlMs = "", field = ""]: Texts): unknown {
  if (redis.command("HEXISTS", [lock, field]) === 0) return 0;
  redis.renewKey(lock, field, Number(ttlMs));
  return redis.command("HINCRBY", [lock, field, "1"]);
}

function unlock(
  redis: SimRedis,
  [lock = "", channel = ""]: Texts,
  [message = "", ttlMs = "", field = ""]: Texts,
): unknown {
  if (redis.command("HEXISTS", [lock, field]) === 0) return null;
  if (Number(redis.command("HINCRBY", [lock, field, "-1"])) > 0) {
    redis.renewKey(lock, field, Number(ttlMs));
    return 0;
  }
  redis.releaseKey(lock, field);
  redis.command("PUBLISH", [channel, message]);
  return 1;
}

function extend(redis: SimRedis, [lock = ""]: Texts, [ttlMs = "", field = ""]: Texts): unknown {
  return redis.command("HEXISTS", [lock, field]) === 1 ? redis.renewKey(lock, field, Number(ttlMs)) : 0;
}

/** The model of each script. redis-model.test.ts compares every model with a real server. */
export const redisScripts: ScriptModel[] = [
  { script: releaseScript, run: release },
  { script: renewScript, run: renew },
  { script: acquireScript, run: take },
  { script: lockScript, run: lockReentrant },
  { script: enterNestedScript, run: enterNested },
  { script: unlockScript, run: unlock },
  { script: extendScript, run: extend },
];
