import { ownerlessKey } from "./ownerless";
import { RedisCalls } from "./redis-calls";
import { redisGetsetTraits } from "./redis-getset";
import type { RedisCommands } from "./redis-port";
import { redisSetnxTraits } from "./redis-setnx";
import { redisSetnxExpireTraits } from "./redis-setnx-expire";
import { redisSetnxGetsetTraits } from "./redis-setnx-getset";

/** Locks whose key may stay on the server without an expiry. */
const LOCKS_WITHOUT_EXPIRY = [redisSetnxTraits, redisSetnxExpireTraits, redisGetsetTraits, redisSetnxGetsetTraits];

/** Ids of the strategies whose lock can stay after a holder crash. All others expire. */
export const breakableLocks: readonly string[] = LOCKS_WITHOUT_EXPIRY.map(({ id }) => id);

/**
 * Lets an operator remove a lock that no holder will release: deletes the key of any holder. If a holder is still
 * running, a second holder can enter.
 * @returns the ids of the strategies that had a lock on the resource
 * @throws {LockError} `backend_unavailable`
 */
export async function breakLock(
  client: RedisCommands,
  resource: string,
  strategyIds: readonly string[] = breakableLocks,
): Promise<string[]> {
  const broken: string[] = [];
  for (const strategyId of breakableLocks.filter((id) => strategyIds.includes(id))) {
    const calls = new RedisCalls(client, { strategyId, resource });
    if ((await calls.call("DEL", ownerlessKey(strategyId, resource))) === 1) broken.push(strategyId);
  }
  return broken;
}
