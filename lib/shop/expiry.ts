import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { endOrders, type PendingOrder } from "./return-units";

/** Orders that one statement expires. */
const BATCH = 100;
/** Batches per round; the next round expires the rest. */
const MAX_BATCHES = 50;
/** Short, so that buyers of a contended product go first; a later round retries. */
const WAIT_FOR_LOCK_MS = 2_000;

export interface ExpiryOptions {
  /** Default: the current time. */
  readonly now?: Date;
  readonly onBatch?: (batch: readonly PendingOrder[]) => Promise<void> | void;
}

export interface ExpiryRound {
  /** Orders that this call expired. */
  readonly expired: number;
  /** Due orders that stay pending, because their product is contended or a run sells it. */
  readonly postponed: number;
  /** One reason per product whose servers failed; its orders stay pending. */
  readonly failures: readonly string[];
}

/**
 * Expires orders whose payment deadline has passed, and returns their units. Safe on all nodes at once and after a crash,
 * because the statement that returns the units also decides which orders are still pending. If a product fails, the round
 * continues with the next product.
 */
export async function expireDueOrders(node: StoreNode, options: ExpiryOptions = {}): Promise<ExpiryRound> {
  const now = options.now ?? new Date();
  let expired = 0;
  let postponed = 0;
  const failures: string[] = [];
  const skippedProducts: number[] = [];
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    const orders = await dueOrders(now, skippedProducts);
    const [first] = orders;
    if (!first) break;
    await options.onBatch?.(orders);
    const ended = await expireBatch(node, orders, now).catch((error: Error) => error);
    if (typeof ended === "number") expired += ended;
    else {
      skippedProducts.push(first.productId);
      if (ended) failures.push(ended.message);
      else postponed += orders.length;
    }
  }
  return { expired, postponed, failures };
}

/** @returns how many orders this call expired; null if the product is contended or a run sells it */
async function expireBatch(node: StoreNode, orders: readonly PendingOrder[], now: Date): Promise<number | null> {
  const productId = orders[0]?.productId ?? 0;
  const limits = { dueBefore: now, waitTimeoutMs: WAIT_FOR_LOCK_MS };
  const outcome = await endOrders(node, { productId, orders, as: "expired", reason: null, ...limits });
  return outcome.status === "ended" ? outcome.orderIds.length : null;
}

/** Due orders of the product whose order has been due longest. */
async function dueOrders(now: Date, skippedProducts: readonly number[]): Promise<PendingOrder[]> {
  const { rows } = await postgresPool().query<PendingOrder>({
    name: "orders_due",
    text: `WITH first AS (
        SELECT product_id FROM orders WHERE status = 'pending' AND expires_at IS NOT NULL AND expires_at <= $1::timestamptz
          AND product_id <> ALL($2::int[]) ORDER BY expires_at LIMIT 1)
      SELECT o.id::text AS "orderId", o.product_id AS "productId", o.user_id AS "buyerId", o.quantity,
        o.stock_taken AS "stockTaken"
      FROM orders o JOIN first f ON f.product_id = o.product_id
      WHERE o.status = 'pending' AND o.expires_at IS NOT NULL AND o.expires_at <= $1::timestamptz
      ORDER BY o.expires_at, o.id LIMIT ${BATCH}`,
    values: [now, skippedProducts],
  });
  return rows;
}
