import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { endOrders, type PendingOrder } from "./return-units";

/** Orders of one product ended by one statement. */
const BATCH = 100;
/** Batches of one round; what is left is the next round's. */
const MAX_BATCHES = 50;
/** Somebody else's turn at a busy product comes first: a later round finds the orders again. */
const WAIT_FOR_LOCK_MS = 2_000;

export interface ExpiryOptions {
  /** The shop's clock; a test moves it. */
  readonly now?: Date;
  readonly onBatch?: (batch: readonly PendingOrder[]) => Promise<void> | void;
}

export interface ExpiryRound {
  /** Orders this call has expired. */
  readonly expired: number;
  /** Orders that were due and could not be ended now: their product was contended, or a run sells it. */
  readonly postponed: number;
  /** Why products could not be served at all; their orders stay due. */
  readonly failures: readonly string[];
}

/**
 * Expires orders whose deadline is over, and returns their units. Safe on all nodes at once, and wherever it dies: which orders
 * are still pending is decided in the statement that returns the units. A product whose servers are lost does not keep the
 * others waiting.
 */
export async function expireDueOrders(node: StoreNode, options: ExpiryOptions = {}): Promise<ExpiryRound> {
  const now = options.now ?? new Date();
  let expired = 0;
  let postponed = 0;
  const failures: string[] = [];
  const passedOver: number[] = [];
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    const orders = await dueOrders(now, passedOver);
    const [first] = orders;
    if (!first) break;
    await options.onBatch?.(orders);
    const ended = await expireBatch(node, orders, now).catch((error: Error) => error);
    if (typeof ended === "number") expired += ended;
    else {
      passedOver.push(first.productId);
      if (ended) failures.push(ended.message);
      else postponed += orders.length;
    }
  }
  return { expired, postponed, failures };
}

/** @returns how many of them were ended here; null when it is not their time */
async function expireBatch(node: StoreNode, orders: readonly PendingOrder[], now: Date): Promise<number | null> {
  const productId = orders[0]?.productId ?? 0;
  const limits = { dueBefore: now, waitTimeoutMs: WAIT_FOR_LOCK_MS };
  const outcome = await endOrders(node, { productId, orders, as: "expired", reason: null, ...limits });
  return outcome.status === "ended" ? outcome.orderIds.length : null;
}

/** The product whose order is due for longest, and what else of it is due. */
async function dueOrders(now: Date, passedOver: readonly number[]): Promise<PendingOrder[]> {
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
    values: [now, passedOver],
  });
  return rows;
}
