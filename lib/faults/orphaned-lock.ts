import type { StrategyTraits } from "../locks/types";
import { DEFAULT_SESSION_TIMEOUT_MS } from "../locks/zookeeper/zk-port";
import { settingText } from "../services/number-text";
import { keepsCounter } from "../stock/stock-strategies";

/** How long a lock stays taken after its holder's process ended, at most; Infinity if it never expires. Milliseconds. */
export function crashedLockMs(traits: StrategyTraits, ttlMs: number): number {
  // The end of the process ends its connections and its own memory.
  if (traits.family === "sql" || traits.family === "baseline") return 0;
  return orphanedLockMs(traits, ttlMs);
}

/** Each poll of a waiter extends it, so it never expires while anyone waits. */
export function isExtendedByWaiters({ expiryClock, survives }: StrategyTraits): boolean {
  return expiryClock === "client" && survives.holderCrash === "blocks";
}

/** The lock gets its expiry in a second command: a holder that ends between the two leaves a lock that never expires. */
export function setsExpirySeparately({ family, kind, expiryClock, survives }: StrategyTraits): boolean {
  return kind === "lock" && family === "redis" && expiryClock === "server" && survives.holderCrash === "blocks";
}

/** Why a fault that may or may not end a holder between its two commands has no certain result; null for other strategies. */
export function whyExpiryIsChance(traits: StrategyTraits): string | null {
  if (!setsExpirySeparately(traits)) return null;
  return "whether it falls between SETNX and PEXPIRE is chance; kill-between-setnx-expire ends a holder there";
}

/** How long a lock stays taken after its holder stops responding, at most; Infinity if it never expires. Milliseconds. */
export function orphanedLockMs(traits: StrategyTraits, ttlMs: number): number {
  const { family, expiryClock } = traits;
  // A PostgreSQL session lasts as long as its connection, and a stopped process keeps its connections open.
  if (expiryClock === "none" || family === "sql") return Infinity;
  // redis-getset: the lock expires by the clients' clock, but each poll of a waiter extends it.
  if (isExtendedByWaiters(traits)) return Infinity;
  // ZooKeeper looks for expired sessions once per tick.
  if (expiryClock === "session") return DEFAULT_SESSION_TIMEOUT_MS + 1_000;
  const wholeSeconds = Math.ceil(ttlMs / 1_000) * 1_000;
  if (family === "memcached") return wholeSeconds + 3_000;
  // etcd grants no lease shorter than its election timeout, and notices an expired lease up to a second late.
  if (family === "etcd") return Math.max(2_000, wholeSeconds) + 1_000;
  return ttlMs;
}

/** Why a lock is free again after its holder's process ended, or why it never is. */
export function crashedLockReason(traits: StrategyTraits, ttlMs: number): string {
  if (keepsCounter(traits))
    return "The journal outlives the killed node and names the units that it took off the counter without an order.";
  if (traits.kind === "atomic") return "No lock stays taken, because it changes the stock in one operation.";
  const takenMs = crashedLockMs(traits, ttlMs);
  if (takenMs === 0) return "PostgreSQL frees the lock when the connections of the killed process end.";
  if (takenMs !== Infinity) return `The lock of the killed holder expires within ${settingText(takenMs)}.`;
  return traits.expiryClock === "none"
    ? "The lock of the killed holder has no expiry and stays taken until an operator breaks it."
    : "Each poll of a waiter extends the lock of the killed holder, so it never expires.";
}
