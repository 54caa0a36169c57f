import { defineScript } from "../locks/redis/script";

export const NO_COUNTER = -1;
export const AT_LIMIT = -2;
export const SOLD_OUT = -3;

/**
 * Takes units, counts them for the buyer and adds a journal entry, or does nothing.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] quantity · ARGV[2] buyer · ARGV[3] limit per buyer, or 0 ·
 * ARGV[4] op id · returns {units left, 0} when taken, else {units left, code} · atomic.
 */
const takeScript = defineScript(`
local left = tonumber(redis.call("GET", KEYS[1]))
if not left then return {0, ${NO_COUNTER}} end
local limit = tonumber(ARGV[3])
if limit > 0 then
  local had = tonumber(redis.call("HGET", KEYS[2], ARGV[2]) or "0")
  if had + tonumber(ARGV[1]) > limit then return {left, ${AT_LIMIT}} end
end
if left < tonumber(ARGV[1]) then return {left, ${SOLD_OUT}} end
if limit > 0 then redis.call("HINCRBY", KEYS[2], ARGV[2], ARGV[1]) end
local now = redis.call("TIME")
local atEpochMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call("HSET", KEYS[3], ARGV[4], string.format("%d:%.0f:%s", ARGV[1], atEpochMs, ARGV[2]))
return {redis.call("DECRBY", KEYS[1], ARGV[1]), 0}
`);

/**
 * Gives the units of a journal entry back once: an entry that is no longer in the journal is settled.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] op id · ARGV[2] quantity · ARGV[3] buyer whose units to reduce, or "" ·
 * returns 1 given back, 0 settled before · atomic. Does not create a missing counter: its initialization subtracts the journal.
 */
const giveBackScript = defineScript(`
if redis.call("HDEL", KEYS[3], ARGV[1]) == 0 then return 0 end
if redis.call("EXISTS", KEYS[1]) == 1 then redis.call("INCRBY", KEYS[1], ARGV[2]) end
if ARGV[3] ~= "" and redis.call("HEXISTS", KEYS[2], ARGV[3]) == 1 then
  if redis.call("HINCRBY", KEYS[2], ARGV[3], -ARGV[2]) <= 0 then redis.call("HDEL", KEYS[2], ARGV[3]) end
end
return 1
`);

/**
 * Adds an entry for units that are about to come back, so that `reconcile` finds them after a crash.
 * KEYS[1] journal · ARGV op id, quantity, buyer of each · returns nothing · atomic.
 */
const announceScript = defineScript(`
local now = redis.call("TIME")
local atEpochMs = now[1] * 1000 + math.floor(now[2] / 1000)
for i = 1, #ARGV, 3 do
  redis.call("HSET", KEYS[1], ARGV[i], string.format("%d:%.0f:%s", ARGV[i + 1], atEpochMs, ARGV[i + 2]))
end
`);

/**
 * Creates the counter if it does not exist: the stock of PostgreSQL minus the units in the journal, which may have no order yet.
 * KEYS[1] counter · KEYS[2] journal · ARGV[1] stock · ARGV[2] expiry in seconds · returns nothing · atomic.
 */
const initializeScript = defineScript(`
local left = tonumber(ARGV[1])
for _, entry in ipairs(redis.call("HVALS", KEYS[2])) do
  left = left - tonumber(string.match(entry, "^%d+"))
end
redis.call("SET", KEYS[1], math.max(left, 0), "NX", "EX", ARGV[2])
`);

/**
 * Sets the counter and deletes buyers and journal.
 * KEYS[1] counter · KEYS[2] buyers · KEYS[3] journal · ARGV[1] stock · ARGV[2] expiry in seconds · returns nothing · atomic.
 */
const resetScript = defineScript(`
redis.call("DEL", KEYS[2], KEYS[3])
redis.call("SET", KEYS[1], ARGV[1], "EX", ARGV[2])
`);

/**
 * Sets the counter if it has not changed since it was read and the journal is empty.
 * KEYS[1] counter · KEYS[2] journal · ARGV[1] value read · ARGV[2] right value · returns 1 corrected, 0 not · atomic.
 */
const correctScript = defineScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] or redis.call("HLEN", KEYS[2]) > 0 then return 0 end
redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
return 1
`);

/**
 * Reads counter, journal and server time together.
 * KEYS[1] counter · KEYS[2] journal · returns {counter or nil, journal fields and values, seconds, microseconds} · atomic.
 */
const snapshotScript = defineScript(`
local now = redis.call("TIME")
return {redis.call("GET", KEYS[1]), redis.call("HGETALL", KEYS[2]), now[1], now[2]}
`);

export const counterScripts = {
  take: takeScript,
  giveBack: giveBackScript,
  announce: announceScript,
  initialize: initializeScript,
  reset: resetScript,
  correct: correctScript,
  snapshot: snapshotScript,
};
