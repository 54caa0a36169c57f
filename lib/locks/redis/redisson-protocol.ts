import { defineScript } from "./script";

/**
 * Redisson's `RLock` on the wire. The lock's name is the key of a hash with one field, `<client UUID>:<thread id>`, whose
 * value is the hold count. A last release says `0` on the lock's channel.
 * @see https://redisson.pro/docs/data-and-services/locks-and-synchronizers/
 */

export const UNLOCK_MESSAGE = "0";

export function unlockChannel(name: string): string {
  return name.includes("{") ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`;
}

/**
 * Takes the lock if it is free, or once more if it is ours.
 * KEYS[1] lock · ARGV[1] ttl in ms · ARGV[2] field · returns nil when taken, else the lock's PTTL · atomic.
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
 * Counts one more entry, but takes no lock that is not ours any more.
 * KEYS[1] lock · ARGV[1] ttl in ms · ARGV[2] field · returns the hold count, 0 when the lock is not ours · atomic.
 */
export const enterNestedScript = defineScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return redis.call("HINCRBY", KEYS[1], ARGV[2], 1)
`);

/**
 * Takes one entry back; the last one deletes the lock and tells those who wait.
 * KEYS[1] lock · KEYS[2] channel · ARGV[1] message · ARGV[2] ttl in ms · ARGV[3] field
 * returns nil when the lock is not ours, 0 when entries are left, 1 when it is free · atomic.
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
 * Gives the lock its full length again if it is ours.
 * KEYS[1] lock · ARGV[1] ttl in ms · ARGV[2] field · returns 1 renewed, 0 not ours · atomic.
 */
export const extendScript = defineScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[2]) == 1 then
  return redis.call("PEXPIRE", KEYS[1], ARGV[1])
end
return 0
`);
