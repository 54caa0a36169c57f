import { setTimeout as delay } from "node:timers/promises";
import type { RedisSession } from "../locks/redis/redis-port";
import { quorumOf } from "../locks/redlock/quorum-attempt";
import { env } from "../services/current-env";
import { resourceOf } from "../stock/types";
import { FaultMissed, type Injection } from "./fault";
import { longHolds } from "./matrix-sale";
import { withRedis } from "./redis-admin";

const POLL_MS = 5;
/** Age of a lease, since its grant or its last renewal: the holder has received it, and does not look at it again soon. */
const SETTLED_MS = 100;
const FRESH_MS = 500;
/** Beyond the lease: time for a buyer to get the lock. The servers end the cut themselves, also if the lab dies. */
const CUT_MARGIN_MS = 20_000;

/**
 * The second buyer gets the lock when the servers and its connections are back: within a second or two, later on a busy machine.
 * The first one works for much longer, and the lease is so long that no renewal notices the loss meanwhile.
 */
export const BARE_MAJORITY_SALE = longHolds({ stock: 2, vus: 2, holdMs: 8_000, ttlMs: 30_000, faultAtMs: 0 });

/** The last server of a bare majority that has the lock. */
export interface LastVote {
  readonly server: RedisSession;
  readonly url: string;
  /** Counted from 1, as in the order of REDLOCK_URLS. */
  readonly number: number;
  /** The lock's value. */
  readonly value: string;
}

/**
 * Cuts the servers off that a bare majority does not need, until a buyer holds the lock on that majority and `takeAway` has taken
 * it from one of them. Then the others answer again, so the next client can get a majority too.
 */
export async function onBareMajority<T>(injection: Injection, takeAway: (last: LastVote) => Promise<T>): Promise<T> {
  const urls = (env().REDLOCK_URLS ?? "").split(",").map((url) => url.trim());
  const number = quorumOf(urls.length);
  return withAll(urls, async (servers) => {
    const [majority, cut] = [servers.slice(0, number), servers.slice(number)];
    const server = majority.at(-1);
    if (!server) throw new FaultMissed("there are no Redlock servers");
    await cutOff(cut, injection);
    try {
      await injection.untilDue();
      const value = await untilHeldBy(majority, cut, injection);
      return await takeAway({ server, url: urls[number - 1] ?? "", number, value });
    } finally {
      await reconnect(cut);
    }
  });
}

async function withAll<T>(urls: readonly string[], work: (servers: RedisSession[]) => Promise<T>): Promise<T> {
  const open = (left: readonly string[], servers: RedisSession[]): Promise<T> => {
    const [url, ...rest] = left;
    return url === undefined ? work(servers) : withRedis(url, (server) => open(rest, [...servers, server]));
  };
  return open(urls, []);
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
