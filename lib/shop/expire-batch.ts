import { sqlStateOf } from "../locks/postgres/sql-state";
import type { StoreNode } from "../node/store-node";
import { endOrders, type PendingOrder } from "./return-units";

/** Short, so that buyers of a contended product go first; a later round retries. */
const WAIT_FOR_LOCK_MS = 2_000;
/** After this many failures in a row that no order caused, the servers are considered down. */
const MAX_FAILURES_IN_A_ROW = 3;

interface FailedOrder {
  readonly orderId: string;
  readonly error: Error;
}

export interface BatchResult {
  /** Orders that this call expired. */
  readonly expired: number;
  /** Orders that could not be expired while others could. */
  readonly failed: readonly FailedOrder[];
  /** Orders that were not tried, because their product is contended or a run sells it. */
  readonly postponed: number;
  /** The error if every attempt failed; the orders that were not tried stay pending. */
  readonly serverFailure: Error | null;
}

/** Expires due orders of one product: in one statement, or one by one if that fails, so that no order blocks another. */
export async function expireBatch(node: StoreNode, orders: readonly PendingOrder[], now: Date): Promise<BatchResult> {
  const outcome = await expire(node, orders, now);
  if (!(outcome instanceof Error)) {
    const postponed = outcome === null ? orders.length : 0;
    return { expired: outcome ?? 0, failed: [], postponed, serverFailure: null };
  }
  const [first] = orders;
  if (first && orders.length === 1) {
    const failed = isCausedByRow(outcome) ? [{ orderId: first.orderId, error: outcome }] : [];
    return { expired: 0, failed, postponed: 0, serverFailure: failed.length > 0 ? null : outcome };
  }
  return expireOneByOne(node, orders, now);
}

async function expireOneByOne(node: StoreNode, orders: readonly PendingOrder[], now: Date): Promise<BatchResult> {
  let expired = 0;
  const failed: FailedOrder[] = [];
  /** The latest failures, until an order shows that the servers answer. */
  let unexplained: FailedOrder[] = [];
  let hasAnswer = false;
  for (const [index, order] of orders.entries()) {
    const outcome = await expire(node, [order], now);
    if (outcome === null) {
      failed.push(...unexplained);
      return { expired, failed, postponed: orders.length - index, serverFailure: null };
    }
    if (outcome instanceof Error && !isCausedByRow(outcome)) {
      unexplained.push({ orderId: order.orderId, error: outcome });
      if (unexplained.length < MAX_FAILURES_IN_A_ROW) continue;
      return { expired, failed, postponed: 0, serverFailure: outcome };
    }
    hasAnswer = true;
    failed.push(...unexplained);
    unexplained = [];
    if (outcome instanceof Error) failed.push({ orderId: order.orderId, error: outcome });
    else expired += outcome;
  }
  if (!hasAnswer) return { expired, failed, postponed: 0, serverFailure: unexplained.at(-1)?.error ?? null };
  failed.push(...unexplained);
  return { expired, failed, postponed: 0, serverFailure: null };
}

/** @returns how many orders this call expired; null if the product is contended or a run sells it */
async function expire(node: StoreNode, orders: readonly PendingOrder[], now: Date): Promise<number | null | Error> {
  const productId = orders[0]?.productId ?? 0;
  const limits = { dueBefore: now, waitTimeoutMs: WAIT_FOR_LOCK_MS };
  try {
    const outcome = await endOrders(node, { productId, orders, as: "expired", reason: null, ...limits });
    return outcome.status === "ended" ? outcome.orderIds.length : null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** True for SQL state classes 22 (value out of range) and 23 (constraint): the values of an order caused the failure. */
function isCausedByRow(error: Error): boolean {
  return /^2[23]/.test(sqlStateOf(error));
}
