import { setTimeout as delay } from "node:timers/promises";
import type { RedisSession } from "../locks/redis/redis-port";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { counterKeys } from "../stock/redis-counter";
import { type Fault, FaultMissed, type Injection } from "./fault";
import { arrivals, longHolds } from "./matrix-sale";
import {
  lockKeyOf,
  type RedisProcess,
  redisProcess,
  shutDownRedis,
  untilRestartedEmpty,
  withRedis,
} from "./redis-admin";
import { restartExpectation, whyNoHoldCovers } from "./server-restart";

const POLL_MS = 5;
/** Holds writes back while the key is looked at. Redis ends this pause itself if the lab dies. */
const WRITE_PAUSE_MS = 1_000;

/** Restarts Redis without its data while a buyer holds the lock: the next buyer finds no lock, and a fencing counter starts at 1. */
export const redisRestart: Fault = {
  id: "redis-restart",
  does: "Ends Redis without saving (SHUTDOWN NOSAVE) while a buyer holds the lock, or while it has the stock counter. The lab starts it again, empty.",
  proof:
    "the lock's or the counter's key, read while writes were held back and before the end of the process; another process of Redis (run_id) answers and has loaded no key; a holder worked from before the end of Redis until after its start",
  defaultDurationMs: () => null,

  whyNotApplicable({ traits }) {
    return traits.needs.includes("redis") ? null : "it keeps nothing in this Redis";
  },

  whyUnavailable() {
    if (env().FAULTS_MAY_EMPTY.includes("redis")) return null;
    return "the lab did not start this Redis; start the lab with FAULTS_MAY_EMPTY=redis to let it empty this one";
  },

  expectationOf: ({ traits }) => restartExpectation(traits),
  matrixSale: (traits) => (traits.kind === "lock" ? longHolds() : arrivals(traits)),

  async inject(injection) {
    await injection.untilDue();
    const { traits, target } = injection;
    const key = traits.kind === "atomic" ? counterKeys(target).counter : lockKeyOf(traits, target);
    const url = env().REDIS_URL ?? "";
    const before = await withRedis(url, (redis) => endWhileHeld(redis, injection, key));
    const fromNs = nowNs();
    const after = await untilRestartedEmpty(url, before);
    const toNs = nowNs();
    const downMs = Math.round(elapsedMs(fromNs, toNs));
    const proof = `Redis process ${before.runId} ended while the key ${key} existed; process ${after.runId} answered ${downMs} ms later, without keys.`;
    return { fromNs, toNs, proof };
  },

  whyUnproven: whyNoHoldCovers,
};

/** Ends Redis at a moment at which the key exists. @throws FaultMissed if the load ends before */
async function endWhileHeld(redis: RedisSession, { closing }: Injection, key: string): Promise<RedisProcess> {
  while (!closing.aborted) {
    const process = await redisProcess(redis);
    await redis.call("CLIENT", "PAUSE", WRITE_PAUSE_MS, "WRITE");
    if (Number(await redis.call("EXISTS", key)) === 1) {
      await shutDownRedis(redis, process);
      return process;
    }
    await redis.call("CLIENT", "UNPAUSE");
    await delay(POLL_MS);
  }
  throw new FaultMissed(`the load ended before Redis had the key ${key}`);
}
