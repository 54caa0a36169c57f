import type { ShopOrder, ShopProduct } from "@/lib/shop/api";
import { formatCount, plural } from "../format";
import { classOf, orderIdOf, type ShopAnswer } from "./answer";
import { spanText } from "./countdown";
import type { RequestState } from "./idempotent-request";
import type { OfferState } from "./offer";
import type { ProductOrders } from "./views";

/** Texts of the shop's pages, in one place so that all pages use the same wording. */

const REFUSALS: Readonly<Record<string, string>> = {
  sold_out: "Sold out. Another buyer got the last unit. You have no order and were not charged.",
  limit_reached: "You have reached the limit per buyer for this product. No stock was reserved.",
  already_claimed: "You have already claimed this coupon. Each buyer can claim it once.",
  not_open: "The sale has not started yet. No stock was reserved.",
  run_closed: "The run that sold this item has ended. Choose another product.",
  purchase_token_missing: "This sale requires a purchase token. Get a token first, then buy.",
  purchase_token_unknown: "The shop does not recognize your purchase token. Get a new token.",
  purchase_token_foreign: "This purchase token belongs to another buyer. Get a new token.",
  purchase_token_used: "Your purchase token is already used. Each token is valid for one purchase. Get a new token.",
  token_used: "Your purchase token is already used. Each token is valid for one purchase. Get a new token.",
  idempotency_mismatch: "The shop received a different request with the same idempotency key. Try again.",
  order_expired: "The payment deadline has passed and the order has expired. You were not charged.",
  order_not_pending: "This order is already paid, cancelled or expired.",
  sale_running: "A run is selling this product. You can pay or cancel when the run has finished.",
  not_found: "This item is no longer on sale.",
  payment_failed: "The payment failed. Your order stays open until its deadline, so you can pay again.",
  cross_site: "The shop accepts purchases from its own pages only. Open the shop and try again.",
};

const DELAYS: Readonly<Record<string, string>> = {
  offline: "You are offline. Nothing was sent. The page sends your request when you are online again.",
  contended: "Too many buyers tried at the same time. No stock was reserved.",
  overloaded: "The queue of this store node is full. No stock was reserved.",
  rate_limited: "You sent too many requests and are rate-limited. Nothing was changed.",
  shutting_down: "This store node is shutting down; the retry goes to another node. Nothing was changed.",
  backend_unavailable: "A server that the shop needs does not answer. Nothing was changed.",
  node_unavailable: "No store node answers. Nothing was changed.",
  lease_lost: "The store node lost the lock before it wrote anything. No stock was reserved.",
  fence_stale: "Another purchase took over the lock, so the database rejected this write. No stock was reserved.",
};

/** Reasons for an unknown outcome. */
const DOUBTS: Readonly<Record<string, string>> = {
  unreachable: "The shop does not answer. Your request may have gone through.",
  no_answer: "The response timed out. Your request may have gone through.",
  idempotency_in_progress: "The shop is still processing your first request.",
};
const UNKNOWN = "The connection failed before the response. Your request may have gone through.";

export function answerText(answer: ShopAnswer): string {
  const answerClass = classOf(answer);
  if (answerClass === "unknown") return DOUBTS[answer.code] ?? UNKNOWN;
  if (answerClass === "retryable") return DELAYS[answer.code] ?? `${answer.message} Nothing was changed.`;
  if (answerClass === "unidentified")
    return "The shop cannot identify this browser. Allow cookies for this site, then try again.";
  return REFUSALS[answer.code] ?? answer.message;
}

/** The next step, shown after the reason. */
export function nextStepText(requestState: RequestState, secondsLeft: number): string {
  if (requestState.phase === "idle" || requestState.phase === "settled") return "";
  const { last } = requestState;
  if (last === null) return "";
  const isUnknown = classOf(last) === "unknown";
  if (requestState.phase === "given_up") {
    return isUnknown
      ? "Retrying is safe: it uses the same idempotency key, so you cannot be charged twice."
      : `${plural(requestState.tries, "attempt")} so far.`;
  }
  const action = isUnknown ? "Retrying with the same idempotency key" : "Retrying";
  return requestState.phase === "sending" || secondsLeft <= 0 ? `${action} now …` : `${action} in ${secondsLeft} s.`;
}

/** The product's terms for the buyer. */
export function termsText(product: Pick<ShopProduct, "stockOn" | "paymentWindowMs" | "limitPerUser">): string {
  const window = spanText(product.paymentWindowMs);
  const limit = product.limitPerUser === null ? "" : ` Limit: ${product.limitPerUser} per buyer.`;
  return product.stockOn === "order"
    ? `Your order reserves the units. Pay within ${window}, or they go back on sale.${limit}`
    : `Your order reserves nothing: you get the units when you pay, within ${window} and while stock lasts.${limit}`;
}

/** Explanation that follows the state's word. */
export function offerText(product: ShopProduct, state: OfferState, orders: ProductOrders): string {
  if (state === "sold_out") {
    const { pendingUnits } = orders;
    return pendingUnits === 0
      ? "All units are paid."
      : `${plural(pendingUnits, "unit")} in unpaid orders may come back on sale. This page updates by itself.`;
  }
  if (state === "limit_reached")
    return `Each buyer may have ${plural(product.limitPerUser ?? 0, "unit")}, and your orders contain that many.`;
  if (state === "not_open") {
    return `${plural(product.stock, "unit")} will be on sale. The button becomes active when the sale opens. ${termsText(product)}`;
  }
  return termsText(product);
}

/** Effect of the stock rule now, compared with the other rule. */
export function stockOnText(product: Pick<ShopProduct, "stock" | "stockOn">, orders: ProductOrders): string {
  const { pendingUnits, waitingUnits } = orders;
  if (product.stockOn === "order") {
    const rule =
      "Orders reduce the stock, so buyers cannot order more than the stock, but unpaid orders block units until their deadline.";
    if (pendingUnits === 0) return rule;
    return `${rule} If payments reduced the stock, ${formatCount(product.stock + pendingUnits)} units would be on sale now instead of ${formatCount(product.stock)}.`;
  }
  const rule =
    "Payments reduce the stock, so unpaid orders and failed payments block no units, but a late payment may find the product sold out.";
  if (waitingUnits === 0) return rule;
  const left = Math.max(0, product.stock - waitingUnits);
  return `${rule} If orders reduced the stock, ${formatCount(left)} units would be on sale now instead of ${formatCount(product.stock)}.`;
}

/** Confirmation of a purchase. */
export function boughtText(answer: ShopAnswer): string {
  const { body, isReplayed } = answer;
  const order = (body as { order?: { stockTaken?: unknown } } | null)?.order;
  const id = orderIdOf(answer);
  const replay = isReplayed ? "Your first request had succeeded. " : "";
  const name = id === null ? "Your order" : `Order ${id}`;
  const next =
    order?.stockTaken === false ? "No stock is reserved until you pay." : "The units are reserved; pay below.";
  return `${replay}${name} is placed. ${next}`;
}

export const ORDER_TEXT: Readonly<Record<ShopOrder["status"], string>> = {
  pending: "Waiting for payment",
  paid: "Paid",
  cancelled: "Cancelled",
  expired: "Expired",
};

/** One line about the state of an order. */
export function orderSentence(order: ShopOrder): string {
  const units = plural(order.quantity, "unit");
  if (order.status === "paid") return `${units} bought.`;
  if (order.status === "expired")
    return order.stockTaken
      ? `The payment deadline passed; ${units} went back on sale.`
      : "The payment deadline passed.";
  if (order.status === "cancelled") {
    if (order.endReason === "sold_out") return "The product was sold out when you paid. You were not charged.";
    return order.stockTaken ? `You cancelled this order; ${units} went back on sale.` : "You cancelled this order.";
  }
  return order.stockTaken ? `${units} reserved.` : `${units} ordered. No stock is reserved until you pay.`;
}

const COUPON_TEXT: Partial<Record<OfferState, string>> = {
  open: "Each buyer can claim it once, while stock lasts.",
  not_open: "The button becomes active when the sale opens. Each buyer can claim it once.",
  sold_out: "Other buyers claimed all coupons.",
  already_claimed: "You have this coupon. Each buyer can claim it once.",
};

export function couponText(state: OfferState): string {
  return COUPON_TEXT[state] ?? "";
}
