import { setTimeout as delay } from "node:timers/promises";
import type { RedisSession } from "../locks/redis/redis-port";
import { quorumOf } from "../locks/redlock/quorum-attempt";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { resourceOf } from "../stock/types";
import { type Fault, FaultMissed, type Injection } from "./fault";
import { longHolds } from "./matrix-sale";
import { type RedisProcess, redisProcess, shutDownRedis, untilRestartedEmpty, withRedis } from "./redis-admin";
import { restartExpectation, whyNoHoldCovers } from "./server-restart";

const POLL_MS = 5;
/** Age of a lease, since its grant or its last renewal: the holder has received it, and does not look at it again soon. */
const SETTLED_MS = 100;
const FRESH_MS = 500;
/** Beyond the lease: time for a buyer to get the lock. The servers end the cut themselves, also if the lab dies. */
const CUT_MARGIN_MS = 20_000;

/**
 * The first holder has the lock on a bare majority of the Redlock servers, because the others are cut off. One server of the
 * majority restarts empty, and the others come back: the next client gets a majority too.
 */
export const redlockNodeRestart: Fault = {
  id: "redlock-node-restart",
  does: "Cuts two Redlock servers off (CLIENT PAUSE) until a buyer holds the lock on the other three, then restarts one of the three empty and lets the two answer again.",
  proof:
    "the lock's value on the three servers, and no key on the two; another process of the third server (run_id) answers and has loaded no key; a holder worked from before its end until after its start",
  defaultDurationMs: () => null,

  whyNotApplicable({ traits }) {
    return traits.needs.includes("redlock") ? null : "it does not use the Redlock servers";
  },

  whyUnavailable() {
    if (env().FAULTS_MAY_EMPTY.includes("redlock")) return null;
    return "the lab did not start these Redlock servers; start the lab with FAULTS_MAY_EMPTY=redlock to let it empty one";
  },

  expectationOf: ({ traits }) => restartExpectation(traits),
  matrixSale: () => longHolds({ holdMs: 3_000, faultAtMs: 0 }),

  async inject(injection) {
    const urls = (env().REDLOCK_URLS ?? "").split(",").map((url) => url.trim());
    const quorum = quorumOf(urls.length);
    const restarted = urls[quorum - 1] ?? "";
    const { before, value, fromNs } = await withAll(urls, (servers) => endOneOfMajority(servers, quorum, injection));
    const after = await untilRestartedEmpty(restarted, before);
    const toNs = nowNs();
    const downMs = Math.round(elapsedMs(fromNs, toNs));
    const proof = `Servers 1 to ${quorum} had the lock of ${value} while the others were cut off; server ${quorum} ended (${before.runId}) and answered ${downMs} ms later without keys (${after.runId}).`;
    return { fromNs, toNs, proof };
  },

  whyUnproven: whyNoHoldCovers,
};

async function withAll<T>(urls: readonly string[], work: (servers: RedisSession[]) => Promise<T>): Promise<T> {
  const open = (left: readonly string[], servers: RedisSession[]): Promise<T> => {
    const [url, ...rest] = left;
    return url === undefined ? work(servers) : withRedis(url, (server) => open(rest, [...servers, server]));
  };
  return open(urls, []);
}

interface EndedServer {
  readonly before: RedisProcess;
  /** The lock's value. */
  readonly value: string;
  readonly fromNs: bigint;
}

/** Ends the last server of a bare majority that has the lock, and lets the servers answer that were cut off. */
async function endOneOfMajority(
  servers: readonly RedisSession[],
  quorum: number,
  injection: Injection,
): Promise<EndedServer> {
  const [majority, cut] = [servers.slice(0, quorum), servers.slice(quorum)];
  const last = majority.at(-1);
  if (!last) throw new FaultMissed("there are no Redlock servers");
  const before = await redisProcess(last);
  await cutOff(cut, injection);
  try {
    await injection.untilDue();
    const value = await untilHeldBy(majority, cut, injection);
    const fromNs = nowNs();
    await shutDownRedis(last);
    return { before, value, fromNs };
  } finally {
    await reconnect(cut);
  }
}

/**
 * Holds back every write at a moment at which the servers do not have the lock, so that no client gets an answer to one.
 * Reads of this connection are still answered.
 */
async function cutOff(servers: readonly RedisSession[], { target, ttlMs, closing }: Injection): Promise<void> {
  while (!closing.aborted) {
    await Promise.all(servers.map((server) => server.call("CLIENT", "PAUSE", ttlMs + CUT_MARGIN_MS, "WRITE")));
    if (await isFree(servers, resourceOf(target))) return;
    await Promise.all(servers.map((server) => server.call("CLIENT", "UNPAUSE")));
    await delay(POLL_MS);
  }
  throw new FaultMissed("the load ended before two servers were free of the lock");
}

async function isFree(servers: readonly RedisSession[], key: string): Promise<boolean> {
  const counts = await Promise.all(servers.map((server) => server.call("EXISTS", key)));
  return counts.every((count) => Number(count) === 0);
}

/** Drops the writes that were held back, with their connections, before the server answers again. */
async function reconnect(servers: readonly RedisSession[]): Promise<void> {
  for (const server of servers) {
    await server.call("CLIENT", "KILL", "TYPE", "normal");
    await server.call("CLIENT", "UNPAUSE");
  }
}

/** @returns the value of a holder that has just got the lock on every server of the majority, and on no other */
async function untilHeldBy(
  majority: readonly RedisSession[],
  cut: readonly RedisSession[],
  { closing, target, ttlMs }: Injection,
): Promise<string> {
  const key = resourceOf(target);
  while (!closing.aborted) {
    const [first, ...others] = await Promise.all(majority.map((server) => server.call("GET", key)));
    const ageMs = ttlMs - Number(await majority[0]?.call("PTTL", key));
    const isHeld = typeof first === "string" && others.every((value) => value === first);
    if (isHeld && ageMs > SETTLED_MS && ageMs < FRESH_MS && (await isFree(cut, key))) return first;
    await delay(POLL_MS);
  }
  throw new FaultMissed("the load ended before a buyer held the lock on a bare majority of the servers");
}
