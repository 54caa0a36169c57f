import type { StrategyTraits } from "../locks/types";
import { crashedLockMs } from "./orphaned-lock";

/** The settings of a run of the fault matrix. Names and units as in `POST /api/runs`. */
export interface MatrixSale {
  readonly stock: number;
  /** Buyers that start together. Absent: they arrive at `rate`. */
  readonly vus?: number;
  /** Purchases per second, for `durationMs`. */
  readonly rate?: number;
  readonly durationMs?: number;
  readonly holdMs: number;
  readonly ttlMs: number;
  readonly waitTimeoutMs: number;
  /** When the fault begins, after the first purchase. */
  readonly faultAtMs: number;
  /** Absent: the default duration of the fault, or it is instant. */
  readonly faultMs?: number;
  /** For network faults: the only server to act on. */
  readonly faultServer?: string;
}

const TTL_MS = 1_000;
/** Shows that a lock without expiry stays taken: several times the lease of the other locks. */
const BLOCKED_WAIT_MS = 5_000;
/** For faults whose holders release their lock, even if late. */
export const RELEASED_WAIT_MS = 20_000;
/** For the buyers in front, after the lock of an ended holder is free. */
const QUEUE_MS = 15_000;

/**
 * Buyers that start together, so that many of them wait when the fault begins. There is a unit for each of them: a node whose
 * buyers are served last still has holders that work.
 */
export function crowd(traits: StrategyTraits, change: Partial<MatrixSale> = {}): MatrixSale {
  const { ttlMs = TTL_MS, vus = 60 } = change;
  return {
    stock: vus,
    vus,
    holdMs: 10,
    ttlMs,
    waitTimeoutMs: waitFor(traits, ttlMs),
    faultAtMs: 100,
    ...change,
  };
}

/** Buyers that arrive before, during and after the fault. */
export function arrivals(traits: StrategyTraits, change: Partial<MatrixSale> = {}): MatrixSale {
  const { ttlMs = TTL_MS } = change;
  return {
    stock: 1_000,
    rate: 50,
    durationMs: 2_000,
    holdMs: 5,
    ttlMs,
    waitTimeoutMs: waitFor(traits, ttlMs),
    faultAtMs: 300,
    ...change,
  };
}

/**
 * For faults that kill the node of a holder. A lock that can stay taken needs buyers who arrive after the kill and wait for as long
 * as they may: on a slow machine the buyers of a crowd may have used up most of their wait before it. The lock is almost always taken,
 * so each node soon has a holder, and purchases are known to have waited before the kill.
 */
export function killedHolder(traits: StrategyTraits): MatrixSale {
  if (!canBlock(traits)) return crowd(traits);
  return arrivals(traits, { stock: 60, rate: 30, holdMs: 30, faultAtMs: 500 });
}

/** Holders that work for longer than a server takes to restart. Their leases outlast their work. */
export function longHolds(change: Partial<MatrixSale> = {}): MatrixSale {
  return { stock: 3, vus: 3, holdMs: 2_500, ttlMs: 10_000, waitTimeoutMs: 20_000, faultAtMs: 100, ...change };
}

function waitFor(traits: StrategyTraits, ttlMs: number): number {
  return canBlock(traits) ? BLOCKED_WAIT_MS : crashedLockMs(traits, ttlMs) + QUEUE_MS;
}

/** Whether the lock of a holder that crashes can stay taken for ever. */
function canBlock(traits: StrategyTraits): boolean {
  return crashedLockMs(traits, TTL_MS) === Infinity || traits.survives.holderCrash === "blocks";
}
