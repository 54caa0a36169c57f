import type { StrategyTraits } from "../locks/types";
import { DEFAULT_SESSION_TIMEOUT_MS } from "../locks/zookeeper/zk-port";

/** How long the lock of a holder that nobody hears from stays taken, at most: milliseconds, Infinity where nothing ends it. */
export function deadHoldEndsAfterMs(traits: StrategyTraits, ttlMs: number): number {
  const { family, expiryClock, survives } = traits;
  // A session of PostgreSQL lasts as long as its connection, and a stopped process keeps its connections.
  if (expiryClock === "none" || family === "sql") return Infinity;
  // By the clients' clock, and blocked all the same: each of its waiters puts the end off when it asks.
  if (expiryClock === "client" && survives.holderCrash === "blocks") return Infinity;
  // The server looks for sessions that are over once a tick.
  if (expiryClock === "session") return DEFAULT_SESSION_TIMEOUT_MS + 1_000;
  const wholeSeconds = Math.ceil(ttlMs / 1_000) * 1_000;
  if (family === "memcached") return wholeSeconds + 1_000;
  // It grants no shorter lease than its election takes, and takes a moment to notice that one has run out.
  if (family === "etcd") return Math.max(2_000, wholeSeconds) + 1_000;
  return ttlMs;
}
