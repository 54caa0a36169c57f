import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { log } from "../services/log";
import { settingText } from "../services/number-text";
import { keepsCounter, traitsOf } from "../stock/stock-strategies";
import type { StockDrift } from "../stock/types";
import type { RunDocument } from "./document";
import type { NodeClient } from "./node-client";
import { type RunEnd, readRunEnd } from "./run-store";
import { statementsEnded } from "./statements-ended";

/** How long the lab waits for a counter outside PostgreSQL and the row to settle after the load. */
export const SETTLE_LIMIT_MS = 10_000;
const POLL_MS = 250;

export interface SettledEnd {
  readonly database: RunEnd;
  /** Null without a counter outside PostgreSQL, and if the counter proves nothing. */
  readonly drift: StockDrift | null;
  /** Why the counter proves nothing; null if it does, or there is none. */
  readonly counterUnread: string | null;
}

export interface SettleOptions {
  /** Of the database that has the run's stock and orders. */
  readonly pool: Pool;
  /** Every node answered, and no purchase of the run is in flight on any of them: none of them can start a write any more. */
  readonly isIdle: boolean;
  /** Absent: `SETTLE_LIMIT_MS`. */
  readonly limitMs?: number | undefined;
}

/**
 * Reads stock and orders, and the strategy's counter at a moment at which it must agree with them. Units between the counter and
 * their order are no violation: the purchase may still be running, or it was cut off. If no purchase is running, the nodes first
 * settle what was cut off.
 */
export async function readSettledEnd(
  document: RunDocument,
  nodes: readonly NodeClient[],
  { pool, isIdle, limitMs = SETTLE_LIMIT_MS }: SettleOptions,
): Promise<SettledEnd> {
  const { id, target, strategy } = document;
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const database = await readRunEnd(pool, id, target);
    if (!keepsCounter(traitsOf(strategy))) return { database, drift: null, counterUnread: null };
    const { drift, counterUnread } = await readDrift(id, nodes);
    if (drift === null || isSettled(drift, database)) return { database, drift, counterUnread };
    const leftMs = deadlineMs - performance.now();
    if (leftMs < 0) return { database, drift: null, counterUnread: unsettled(drift, limitMs) };
    if (isIdle && drift.pending > 0) await settle(id, nodes, leftMs);
    await delay(POLL_MS);
  }
}

/** Each node settles the entries that it can; the next reading shows whether one is left. */
async function settle(id: string, nodes: readonly NodeClient[], limitMs: number): Promise<void> {
  if (!(await statementsEnded(limitMs))) return;
  for (const node of nodes) {
    const failure = await node.settle(id).catch((error: Error) => error);
    if (failure) log().warn({ runId: id, reason: failure.message }, "the journal of the run's counter was not settled");
  }
}

/** No unit was between the counter and its order, and the row did not change between the reads of database and counter. */
function isSettled({ counter, pending, stock }: StockDrift, { final }: RunEnd): boolean {
  return counter === null || (pending === 0 && stock === final);
}

function unsettled({ counter, pending, stock }: StockDrift, limitMs: number): string {
  const units = `${pending} ${pending === 1 ? "unit was" : "units were"} taken off it without an order`;
  return `${units} ${settingText(limitMs)} after the load (counter ${counter}, row ${stock})`;
}

/** Tries one node after the other: each of them can read the counter. */
async function readDrift(id: string, nodes: readonly NodeClient[]): Promise<Omit<SettledEnd, "database">> {
  let counterUnread: string | null = null;
  for (const node of nodes) {
    try {
      return { drift: await node.drift(id), counterUnread: null };
    } catch (error) {
      counterUnread = (error as Error).message;
    }
  }
  return { drift: null, counterUnread };
}
