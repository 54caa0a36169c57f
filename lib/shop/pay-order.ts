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
 * Pays an order. If the product takes its stock at payment, the strategy that sells the product now takes the units, in the
 * statement that marks the order as paid. If too few units are left, the payment is not taken and the order is cancelled.
 * @throws {ShopError} `order_not_found`, `order_not_pending`, `order_expired`, `payment_failed`, `sold_out`, `contended`
 * @throws {PurchaseFailure} if a server is unavailable or the outcome is unknown
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
 * Cancels an order and returns its units to the stock.
 * @throws {ShopError} `order_not_found`, `order_not_pending`, `sale_running`, `contended`
 * @throws {LockError} if a server is unavailable or the outcome is unknown
 */
export async function cancelOrder(node: StoreNode, { orderId, buyerId }: OrderOfBuyer): Promise<ShopOrder> {
  const order = await foundOrder(orderId, buyerId);
  if (order.status !== "pending") throw whyNotPending(order);
  const outcome = await endAs(node, order, { buyerId, reason: "buyer" });
  if (outcome.status === "contended") throw contended();
  if (outcome.status === "sale_running") {
    const message = "A run is selling this product. You can cancel the order when the run has finished.";
    throw new ShopError({ code: "sale_running", message, retryAfterSeconds: 5 });
  }
  const ended = await foundOrder(orderId, buyerId);
  if (outcome.orderIds.length === 0) throw whyNotPending(ended);
  return ended;
}

/** Purchases the units of an order that reserved none, with the same strategy and lock as any other purchase. */
async function payAndTake(node: StoreNode, order: ShopOrder, buyerId: string): Promise<ShopOrder> {
  const { id: orderId, productId, quantity } = order;
  const target = { kind: "product", id: productId } as const;
  const input = { target, buyerId, quantity, order: { kind: "pending", orderId } as const };
  const result = await purchase(node, node.plan(target), input).then(
    ({ outcome }) => outcome.status,
    (error: Error & { cause?: unknown }) => error,
  );
  if (result === "sold") return foundOrder(orderId, buyerId);
  if (result === "contended") throw contended();
  const found = await foundOrder(orderId, buyerId);
  // A failed purchase may mean that another request paid or ended the order in the meantime.
  if (found.status !== "pending" || isOverdue(found)) throw whyNotPending(found);
  if (typeof result !== "string") throw result;
  await endAs(node, found, { buyerId, reason: "sold_out" });
  const message = "Sold out. The payment was not taken, and the order is cancelled.";
  throw new ShopError({ code: "sold_out", message, details: { orderId, status: "cancelled" } });
}

async function failedPayment({ id, productId }: ShopOrder): Promise<ShopError> {
  const text = "UPDATE orders SET failed_payments = failed_payments + 1 WHERE id = $1::bigint AND status = 'pending'";
  await postgresPool().query(text, [id]);
  const message = "The payment failed. You can retry until the order's payment deadline.";
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
    return new ShopError({ code: "order_expired", message: "The payment deadline of this order has passed.", details });
  }
  return new ShopError({ code: "order_not_pending", message: `The order is already ${status}.`, details });
}

function contended(): ShopError {
  const message = "Too many buyers at once. Nothing was changed; retry.";
  return new ShopError({ code: "contended", message, retryAfterSeconds: 1 });
}
