import { defineScript } from "./script";

/**
 * Deletes the lock if the caller holds it.
 * KEYS[1] lock · ARGV[1] holder · returns 1 if deleted, 0 if the caller is not the holder · atomic: compare and delete run as one step.
 */
export const releaseScript = defineScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0
`);

/**
 * Extends the lock to its full TTL if the caller holds it.
 * KEYS[1] lock · ARGV[1] holder · ARGV[2] TTL in ms · returns 1 if renewed, 0 if the caller is not the holder · atomic.
 */
export const renewScript = defineScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0
`);
