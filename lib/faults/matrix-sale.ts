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

/** Buyers that start together, so that many of them wait when the fault begins. */
export function crowd(traits: StrategyTraits, change: Partial<MatrixSale> = {}): MatrixSale {
  const { ttlMs = TTL_MS } = change;
  return {
    stock: 40,
    vus: 60,
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

/** Holders that work for longer than a server takes to restart. Their leases outlast their work. */
export function longHolds(change: Partial<MatrixSale> = {}): MatrixSale {
  return { stock: 3, vus: 3, holdMs: 2_500, ttlMs: 10_000, waitTimeoutMs: 20_000, faultAtMs: 100, ...change };
}

function waitFor(traits: StrategyTraits, ttlMs: number): number {
  const takenMs = crashedLockMs(traits, ttlMs);
  const canBlock = takenMs === Infinity || traits.survives.holderCrash === "blocks";
  return canBlock ? BLOCKED_WAIT_MS : takenMs + QUEUE_MS;
}
