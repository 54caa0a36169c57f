import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { type BatchResult, expireBatch } from "./expire-batch";
import type { PendingOrder } from "./return-units";

/** Orders that one statement expires. */
const BATCH = 100;
/** Batches per round; the next round expires the rest. */
const MAX_BATCHES = 50;

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
  /** One reason per order that could not be expired, and one per product whose servers failed. Their orders stay pending. */
  readonly failures: readonly string[];
}

/**
 * Expires orders whose payment deadline has passed, and returns their units. Safe on all nodes at once and after a crash,
 * because the statement that returns the units also decides which orders are still pending. If an order or a product fails, the
 * round continues with the next one.
 */
export async function expireDueOrders(node: StoreNode, options: ExpiryOptions = {}): Promise<ExpiryRound> {
  const now = options.now ?? new Date();
  let expired = 0;
  let postponed = 0;
  const failures: string[] = [];
  const skipped: Skipped = { products: [], orderIds: [] };
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    const orders = await dueOrders(now, skipped);
    const [first] = orders;
    if (!first) break;
    await options.onBatch?.(orders);
    const result = await expireBatch(node, orders, now);
    expired += result.expired;
    postponed += result.postponed;
    failures.push(...failuresOf(first.productId, result));
    skipped.orderIds.push(...result.failed.map(({ orderId }) => orderId));
    if (result.serverFailure || result.postponed > 0) skipped.products.push(first.productId);
  }
  return { expired, postponed, failures };
}

/** What the rest of the round leaves alone. */
interface Skipped {
  readonly products: number[];
  readonly orderIds: string[];
}

function failuresOf(productId: number, { failed, serverFailure }: BatchResult): string[] {
  const orders = failed.map(({ orderId, error }) => {
    return `order ${orderId} of product ${productId} could not be expired: ${error.message}`;
  });
  return serverFailure ? [...orders, serverFailure.message] : orders;
}

/** Due orders of the product whose order has been due longest. */
async function dueOrders(now: Date, skipped: Skipped): Promise<PendingOrder[]> {
  const { rows } = await postgresPool().query<PendingOrder>({
    name: "orders_due",
    text: `WITH first AS (
        SELECT product_id FROM orders WHERE status = 'pending' AND expires_at IS NOT NULL AND expires_at <= $1::timestamptz
          AND product_id <> ALL($2::int[]) AND id <> ALL($3::bigint[]) ORDER BY expires_at LIMIT 1)
      SELECT o.id::text AS "orderId", o.product_id AS "productId", o.user_id AS "buyerId", o.quantity,
        o.stock_taken AS "stockTaken"
      FROM orders o JOIN first f ON f.product_id = o.product_id
      WHERE o.status = 'pending' AND o.expires_at IS NOT NULL AND o.expires_at <= $1::timestamptz
        AND o.id <> ALL($3::bigint[])
      ORDER BY o.expires_at, o.id LIMIT ${BATCH}`,
    values: [now, skipped.products, skipped.orderIds],
  });
  return rows;
}
