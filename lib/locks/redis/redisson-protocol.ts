import { defineScript } from "./script";

/**
 * Redisson's `RLock` protocol. The lock's name is the key of a hash with one field, `<client UUID>:<thread id>`, whose
 * value is the hold count. The last release publishes `0` on the lock's channel.
 * @see https://redisson.pro/docs/data-and-services/locks-and-synchronizers/
 */

export const UNLOCK_MESSAGE = "0";

export function unlockChannel(name: string): string {
  return name.includes("{") ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`;
}

/**
 * Acquires the lock if it is free, or increments the hold count if the caller holds it.
 * KEYS[1] lock · ARGV[1] TTL in ms · ARGV[2] field · returns nil if acquired, otherwise the lock's PTTL · atomic.
 */
export const lockScript = defineScript(`
if redis.call("EXISTS", KEYS[1]) == 0 or redis.call("HEXISTS", KEYS[1], ARGV[2]) == 1 then
  redis.call("HINCRBY", KEYS[1], ARGV[2], 1)
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  return nil
end
return redis.call("PTTL", KEYS[1])
`);

/**
 * Increments the hold count if the caller still holds the lock. Never acquires it.
 * KEYS[1] lock · ARGV[1] TTL in ms · ARGV[2] field · returns the hold count, or 0 if the caller does not hold the lock
 * · atomic.
 */
export const enterNestedScript = defineScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return redis.call("HINCRBY", KEYS[1], ARGV[2], 1)
`);

/**
 * Decrements the hold count. At zero, deletes the lock and publishes the message.
 * KEYS[1] lock · KEYS[2] channel · ARGV[1] message · ARGV[2] TTL in ms · ARGV[3] field · returns nil if the caller does
 * not hold the lock, 0 if entries remain, 1 if the lock is free · atomic.
 */
export const unlockScript = defineScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[3]) == 0 then
  return nil
end
if redis.call("HINCRBY", KEYS[1], ARGV[3], -1) > 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
  return 0
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", KEYS[2], ARGV[1])
return 1
`);

/**
 * Extends the lock to its full TTL if the caller holds it.
 * KEYS[1] lock · ARGV[1] TTL in ms · ARGV[2] field · returns 1 if renewed, 0 if the caller does not hold the lock ·
 * atomic.
 */
export const extendScript = defineScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 1 then
  return redis.call("PEXPIRE", KEYS[1], ARGV[1])
end
return 0
`);
