import { ownerlessKey } from "./ownerless";
import { RedisCalls } from "./redis-calls";
import { redisGetsetTraits } from "./redis-getset";
import type { RedisCommands } from "./redis-port";
import { redisSetnxTraits } from "./redis-setnx";
import { redisSetnxExpireTraits } from "./redis-setnx-expire";
import { redisSetnxGetsetTraits } from "./redis-setnx-getset";

/** Locks whose key the server never removes by itself. */
const WITHOUT_EXPIRY = [redisSetnxTraits, redisSetnxExpireTraits, redisGetsetTraits, redisSetnxGetsetTraits];

/** Ids of the strategies whose lock stays when its holder dies. All others end by themselves. */
export const breakableLocks: readonly string[] = WITHOUT_EXPIRY.map(({ id }) => id);

/**
 * The operator's way out of a lock that nobody will ever free: deletes it, whoever holds it. A holder that is
 * still alive is then not alone.
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
