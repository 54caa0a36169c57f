import { defineScript } from "./script";

/**
 * Deletes the lock if the caller holds it.
 * KEYS[1] lock · ARGV[1] holder · returns 1 deleted, 0 not the holder's · atomic: compare and delete are one step.
 */
export const releaseScript = defineScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0
`);

/**
 * Gives the lock its full length again if the caller holds it.
 * KEYS[1] lock · ARGV[1] holder · ARGV[2] ttl in ms · returns 1 renewed, 0 not the holder's · atomic.
 */
export const renewScript = defineScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
`);
