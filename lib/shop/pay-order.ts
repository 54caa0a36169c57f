import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import type { PayRequest, ShopOrder } from "./api";
import { purchase } from "./purchase";
import { findOrder } from "./queries";
import { endOrders } from "./return-units";
import { ShopError } from "./shop-error";

export interface OrderOfBuyer {
  readonly orderId: string;
  readonly buyerId: string;
}

/**
 * Pays an order. Where the product takes its stock at the payment, the units are taken by the strategy that sells it now, in
 * the statement that turns the order paid; where none are left nothing is paid, and the order is cancelled.
 * @throws {ShopError} `order_not_found`, `order_not_pending`, `order_expired`, `payment_failed`, `sold_out`, `contended`
 * @throws {PurchaseFailure} when a server was lost, or the outcome is not known
 */
export async function payOrder(
  node: StoreNode,
  { orderId, buyerId }: OrderOfBuyer,
  pay: PayRequest,
): Promise<ShopOrder> {
  const order = await pendingOrder(orderId, buyerId);
  if (pay.outcome === "fail") throw await failedPayment(order);
  if (!order.stockTaken) return payAndTake(node, order, buyerId);
  const { rowCount } = await postgresPool().query(
    `UPDATE orders SET status = 'paid', paid_at = now() WHERE id = $1::bigint AND user_id = $2::text
       AND status = 'pending' AND stock_taken AND (expires_at IS NULL OR expires_at > now())`,
    [orderId, buyerId],
  );
  if (rowCount === 1) return foundOrder(orderId, buyerId);
  throw whyNotPending(await foundOrder(orderId, buyerId));
}

/**
 * Cancels an order; the units it took go back on sale.
 * @throws {ShopError} `order_not_found`, `order_not_pending`, `sale_running`, `contended`
 * @throws {LockError} when a server was lost, or the outcome is not known
 */
export async function cancelOrder(node: StoreNode, { orderId, buyerId }: OrderOfBuyer): Promise<ShopOrder> {
  const order = await foundOrder(orderId, buyerId);
  if (order.status !== "pending") throw whyNotPending(order);
  const outcome = await endAs(node, order, { buyerId, reason: "buyer" });
  if (outcome.status === "contended") throw busy();
  if (outcome.status === "sale_running") {
    const message = "A run sells this product; the order can be cancelled when it is over.";
    throw new ShopError({ code: "sale_running", message, retryAfterSeconds: 5 });
  }
  const ended = await foundOrder(orderId, buyerId);
  if (outcome.orderIds.length === 0) throw whyNotPending(ended);
  return ended;
}

/** The purchase of an order that reserved nothing: the same strategy, the same lock, the same section. */
async function payAndTake(node: StoreNode, order: ShopOrder, buyerId: string): Promise<ShopOrder> {
  const { id: orderId, productId, quantity } = order;
  const target = { kind: "product", id: productId } as const;
  const input = { target, buyerId, quantity, order: { kind: "pending", orderId } as const };
  const refusal = await purchase(node, node.plan(target), input).then(
    ({ outcome }) => outcome.status,
    (error: Error & { cause?: unknown }) => error,
  );
  if (refusal === "sold") return foundOrder(orderId, buyerId);
  if (refusal === "contended") throw busy();
  const found = await foundOrder(orderId, buyerId);
  // What looks like an empty shelf, or a stale fence, may be an order that was paid or ended meanwhile.
  if (found.status !== "pending" || isOverdue(found)) throw whyNotPending(found);
  if (typeof refusal !== "string") throw refusal;
  await endAs(node, found, { buyerId, reason: "sold_out" });
  const message = "Nothing is left; the payment was not taken, and the order is cancelled.";
  throw new ShopError({ code: "sold_out", message, details: { orderId, status: "cancelled" } });
}

async function failedPayment({ id, productId }: ShopOrder): Promise<ShopError> {
  const text = "UPDATE orders SET failed_payments = failed_payments + 1 WHERE id = $1::bigint AND status = 'pending'";
  await postgresPool().query(text, [id]);
  const message = "The payment failed; the order is still yours to pay until its deadline.";
  return new ShopError({ code: "payment_failed", message, details: { orderId: id, productId } });
}

function endAs(node: StoreNode, order: ShopOrder, by: { readonly buyerId: string; readonly reason: string }) {
  const { id: orderId, productId, quantity, stockTaken } = order;
  const pending = { orderId, productId, buyerId: by.buyerId, quantity, stockTaken };
  return endOrders(node, { productId, orders: [pending], as: "cancelled", reason: by.reason, dueBefore: null });
}

async function pendingOrder(orderId: string, buyerId: string): Promise<ShopOrder> {
  const order = await foundOrder(orderId, buyerId);
  if (order.status !== "pending" || isOverdue(order)) throw whyNotPending(order);
  return order;
}

async function foundOrder(orderId: string, buyerId: string): Promise<ShopOrder> {
  const order = await findOrder(orderId, buyerId);
  if (order) return order;
  throw new ShopError({ code: "order_not_found", message: `You have no order ${orderId}.` });
}

function isOverdue({ expiresAtEpochMs }: ShopOrder): boolean {
  return expiresAtEpochMs !== null && expiresAtEpochMs <= Date.now();
}

function whyNotPending({ id, status, endReason }: ShopOrder): ShopError {
  const details = { orderId: id, status, ...(endReason === null ? {} : { reason: endReason }) };
  if (status === "pending" || status === "expired") {
    return new ShopError({ code: "order_expired", message: "The time to pay this order is over.", details });
  }
  return new ShopError({ code: "order_not_pending", message: `The order is ${status} already.`, details });
}

function busy(): ShopError {
  return new ShopError({ code: "contended", message: "Too many buyers at once; try again.", retryAfterSeconds: 1 });
}
