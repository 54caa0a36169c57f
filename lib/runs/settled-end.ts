import { setTimeout as delay } from "node:timers/promises";
import { settingText } from "../services/number-text";
import { traitsOf } from "../stock/stock-strategies";
import type { StockDrift } from "../stock/types";
import type { RunDocument } from "./document";
import type { NodeClient } from "./node-client";
import { type RunEnd, readRunEnd } from "./run-store";

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

/** True if the strategy counts its stock in Redis or Memcached, beside the row in PostgreSQL. */
export function keepsCounter(strategy: string): boolean {
  const { kind, family } = traitsOf(strategy);
  return kind === "atomic" && family !== "sql";
}

/**
 * Reads stock and orders, and the strategy's counter at a moment at which it must agree with them. Units between the counter and
 * their order are no violation: the purchase may still be running, or `reconcile` returns them.
 */
export async function readSettledEnd(
  document: RunDocument,
  nodes: readonly NodeClient[],
  limitMs = SETTLE_LIMIT_MS,
): Promise<SettledEnd> {
  const { id, target, strategy } = document;
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const database = await readRunEnd(id, target);
    if (!keepsCounter(strategy)) return { database, drift: null, counterUnread: null };
    const { drift, counterUnread } = await readDrift(id, nodes);
    if (drift === null || isSettled(drift, database)) return { database, drift, counterUnread };
    if (performance.now() > deadlineMs) return { database, drift: null, counterUnread: unsettled(drift, limitMs) };
    await delay(POLL_MS);
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
