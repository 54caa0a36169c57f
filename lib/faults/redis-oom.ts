import { setTimeout as delay } from "node:timers/promises";
import type { RedisSession } from "../locks/redis/redis-port";
import { env } from "../services/current-env";
import { nowNs } from "../services/monotonic";
import { type Expectation, type Fault, type FaultContext, type FaultEvent, FaultMissed, type Injection } from "./fault";
import { configOf, fieldOf, inOneMessage, lockKeyOf, withRedis } from "./redis-admin";
import { redisRestart } from "./redis-restart";
import { whyNoHoldCovers } from "./server-restart";

const POLL_MS = 5;
/** Redis evicts for at most half a millisecond before each command. */
const EVICTIONS = 20;
/** PTTL of a key that does not exist. */
const NO_KEY = -2;

/**
 * Redis runs out of memory and evicts the keys that expire first: the lock's key is one of them. All commands are one message, which
 * Redis executes as a whole, so its settings are as before also if the lab dies.
 */
export const redisOom: Fault = {
  id: "redis-oom",
  does: "Makes Redis run out of memory (maxmemory 1, maxmemory-policy volatile-ttl) for a moment while a buyer holds the lock, so that it evicts the keys that have an expiry.",
  proof:
    "PTTL of the lock's key before and after in the same message; how much evicted_keys of INFO rose; a holder worked for the whole fault",
  defaultDurationMs: () => null,

  whyNotApplicable(run) {
    const { traits } = run;
    const reason = redisRestart.whyNotApplicable(run);
    if (reason !== null) return reason;
    if (traits.kind === "atomic") return "it has no lock, and its counter has no expiry, so Redis does not evict it";
    return traits.expiryClock === "server" ? null : "its key in Redis has no expiry, so Redis does not evict it";
  },
  whyUnavailable: () => redisRestart.whyUnavailable?.() ?? null,

  expectationOf,
  // A buyer who waits for a message of redis-reentrant does not notice that the lock is free; one who arrives does.
  matrixSale: () => ({
    ...{ stock: 3, rate: 2, durationMs: 3_000, holdMs: 2_500 },
    ...{ ttlMs: 10_000, waitTimeoutMs: 20_000, faultAtMs: 500 },
  }),

  async inject(injection) {
    await injection.untilDue();
    const url = env().REDIS_URL ?? "";
    return withRedis(url, (redis) => evictWhileHeld(redis, url, injection));
  },

  whyUnproven: whyNoHoldCovers,
};

function expectationOf({ traits, fencing }: FaultContext): Expectation {
  if (traits.fencingSource !== null && fencing) {
    return {
      effect: "safe",
      reason:
        "The fencing counter has no expiry, so it stays, and PostgreSQL rejects the write of the holder whose key is gone.",
    };
  }
  return { effect: "unsafe", reason: "The lock's key is evicted, so the next buyer gets the lock beside the holder." };
}

/** @throws FaultMissed if the load ends before Redis evicted the lock */
async function evictWhileHeld(
  redis: RedisSession,
  url: string,
  { closing, traits, target }: Injection,
): Promise<FaultEvent> {
  const key = lockKeyOf(traits, target);
  const message = evictionOf(key, {
    maxmemory: await configOf(redis, "maxmemory"),
    policy: await configOf(redis, "maxmemory-policy"),
  });
  while (!closing.aborted) {
    if (Number(await redis.call("EXISTS", key)) === 1) {
      const fromNs = nowNs();
      const answers = await inOneMessage(url, message);
      const [before = NO_KEY, after = NO_KEY] = answers.filter((answer) => typeof answer === "number");
      if (before !== NO_KEY && after === NO_KEY) {
        const [evictedBefore, evictedAfter] = [answers[0], answers.at(-1)].map(evictedKeys);
        const evicted = Number(evictedAfter) - Number(evictedBefore);
        const proof = `Redis evicted ${key}, whose lease had ${before} ms left; evicted keys: ${evicted}.`;
        return { fromNs, toNs: nowNs(), proof };
      }
      if (before !== NO_KEY) throw new FaultMissed(`Redis did not evict ${key}`);
    }
    await delay(POLL_MS);
  }
  throw new FaultMissed(`the load ended before Redis had the key ${key}`);
}

/** Commands that evict the keys with an expiry, and leave the settings as they were. */
function evictionOf(
  key: string,
  given: { readonly maxmemory: string; readonly policy: string },
): (readonly string[])[] {
  return [
    ["INFO", "stats"],
    ["PTTL", key],
    ["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"],
    ["CONFIG", "SET", "maxmemory", "1"],
    ...Array.from({ length: EVICTIONS }, () => ["PING"]),
    ["PTTL", key],
    ["CONFIG", "SET", "maxmemory", given.maxmemory],
    ["CONFIG", "SET", "maxmemory-policy", given.policy],
    ["INFO", "stats"],
  ];
}

function evictedKeys(info: unknown): number {
  return Number(fieldOf(String(info), "evicted_keys"));
}
