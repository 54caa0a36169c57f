import type { ShopOrder, ShopProduct } from "@/lib/shop/api";
import { formatCount, plural } from "../format";
import { classOf, orderIdOf, type ShopAnswer } from "./answer";
import { spanText } from "./countdown";
import type { RequestState } from "./idempotent-request";
import type { OfferState } from "./offer";
import type { ProductOrders } from "./views";

/** What the shop's pages say, in one place, so that each page says the same of the same. */

const REFUSALS: Readonly<Record<string, string>> = {
  sold_out: "Sold out: the last unit went to somebody else. You were charged nothing and have no order.",
  limit_reached: "You already have as many as one buyer may have.",
  already_claimed: "You have already claimed this coupon; one each.",
  not_open: "The sale has not begun; the lab's clock says so. Nothing was taken.",
  run_closed: "The run that sold this has ended.",
  purchase_token_missing: "This sale asks for a purchase token. Get one first, then buy.",
  purchase_token_unknown: "Your purchase token is not known here. Get another one.",
  purchase_token_foreign: "That purchase token belongs to another buyer. Get one of your own.",
  purchase_token_used: "Your purchase token has bought already; each buys once. Get another one.",
  token_used: "Your purchase token has bought already; each buys once. Get another one.",
  idempotency_mismatch: "This click was mistaken for another one. Try again.",
  order_expired: "The time to pay is over; the order has expired.",
  order_not_pending: "This order is settled already.",
  sale_running: "A run is selling this product; its orders can be settled when it is over.",
  not_found: "This is not on sale any more.",
  payment_failed: "The payment failed. The order is still yours until its deadline.",
  cross_site: "The shop takes purchases from its own pages only.",
};

const DELAYS: Readonly<Record<string, string>> = {
  offline: "You are offline. Nothing was sent; it goes on by itself when you are back.",
  contended: "Too many buyers at the same moment. Nothing was taken.",
  overloaded: "The queue at this node is full. Nothing was taken.",
  rate_limited: "That was too many requests of one buyer. Nothing was taken.",
  shutting_down: "The node is shutting down; another will serve you. Nothing was taken.",
  backend_unavailable: "A server the shop needs does not answer. Nothing was taken.",
  node_unavailable: "No store node answers. Nothing was taken.",
  lease_lost: "The lock was lost before anything was written. Nothing was taken.",
  fence_stale: "Somebody newer held the lock. Nothing was taken.",
};

/** Why there is no definite answer. */
const DOUBTS: Readonly<Record<string, string>> = {
  unreachable: "The shop stopped answering, so whether it went through is not known yet.",
  no_answer: "The answer did not come, so whether it went through is not known yet.",
  idempotency_in_progress: "Your first click is still being served.",
};
const UNKNOWN = "The connection broke before the answer, so whether it went through is not known yet.";

export function answerText(answer: ShopAnswer): string {
  const answerClass = classOf(answer);
  if (answerClass === "unknown") return DOUBTS[answer.code] ?? UNKNOWN;
  if (answerClass === "retryable") return DELAYS[answer.code] ?? `${answer.message} Nothing was taken.`;
  if (answerClass === "unidentified") return "The shop does not know this browser; it may be keeping no cookies.";
  return REFUSALS[answer.code] ?? answer.message;
}

/** What happens next, said beside the reason. */
export function nextStepText(requestState: RequestState, secondsLeft: number): string {
  if (requestState.phase === "idle" || requestState.phase === "settled") return "";
  const { last } = requestState;
  if (last === null) return "";
  const isUnknown = classOf(last) === "unknown";
  if (requestState.phase === "given_up") {
    return isUnknown
      ? "Asking again is safe: it carries the same key, so it finds out and takes nothing twice."
      : `${plural(requestState.tries, "try", "tries")} so far.`;
  }
  const again = isUnknown ? "Asking again with the same key" : "Trying again";
  return requestState.phase === "sending" || secondsLeft <= 0 ? `${again} now …` : `${again} in ${secondsLeft} s.`;
}

/** What the product's terms mean for who buys. */
export function termsText(product: Pick<ShopProduct, "stockOn" | "paymentWindowMs" | "limitPerUser">): string {
  const window = spanText(product.paymentWindowMs);
  const limit = product.limitPerUser === null ? "" : ` At most ${product.limitPerUser} each.`;
  return product.stockOn === "order"
    ? `It is set aside for you when you order; pay within ${window}, or it goes back on sale.${limit}`
    : `It is yours when you pay, within ${window} and while there is some; ordering sets nothing aside.${limit}`;
}

/** What a product is to a visitor now, after the state's own word. */
export function offerText(product: ShopProduct, state: OfferState, orders: ProductOrders): string {
  if (state === "sold_out") {
    const { pendingUnits } = orders;
    return pendingUnits === 0
      ? "Every unit is paid for."
      : `${plural(pendingUnits, "unit")} may come back: ${pendingUnits === 1 ? "it is" : "they are"} in orders that nobody has paid. This page will show it.`;
  }
  if (state === "limit_reached")
    return `${plural(product.limitPerUser ?? 0, "unit")} each, and you have as many in your orders.`;
  if (state === "not_open") {
    return `${plural(product.stock, "unit")} then; the page opens the sale by itself, by the lab's clock. ${termsText(product)}`;
  }
  return termsText(product);
}

/** What the rule does to the stock at this moment, and what the other one would. */
export function stockOnText(product: Pick<ShopProduct, "stock" | "stockOn">, orders: ProductOrders): string {
  const { pendingUnits, waitingUnits } = orders;
  if (product.stockOn === "order") {
    const rule =
      "Units leave the stock when they are ordered, so nobody is promised what is not there, and an unpaid order keeps them from everybody else until its deadline.";
    if (pendingUnits === 0) return rule;
    return `${rule} Taken at the payment instead, ${formatCount(product.stock + pendingUnits)} would be on sale now rather than ${formatCount(product.stock)}.`;
  }
  const rule =
    "Units leave the stock when they are paid, so unpaid orders and failed payments block nothing, and who pays too late is told that it is sold out.";
  if (waitingUnits === 0) return rule;
  const left = Math.max(0, product.stock - waitingUnits);
  return `${rule} Taken at the order instead, ${formatCount(left)} would be on sale now rather than ${formatCount(product.stock)}.`;
}

/** What was got, said once. */
export function boughtText(answer: ShopAnswer): string {
  const { body, isReplayed } = answer;
  const order = (body as { order?: { stockTaken?: unknown } } | null)?.order;
  const id = orderIdOf(answer);
  const found = isReplayed ? "It had gone through the first time: " : "";
  const number = id === null ? "your order" : `order ${id}`;
  const next =
    order?.stockTaken === false ? "nothing is set aside until you pay." : "set aside for you, to be paid below.";
  return sentenceCase(`${found}${number} is in; ${next}`);
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const ORDER_TEXT: Readonly<Record<ShopOrder["status"], string>> = {
  pending: "Waiting for payment",
  paid: "Paid",
  cancelled: "Cancelled",
  expired: "Expired",
};

/** One line on what an order is now. */
export function orderSentence(order: ShopOrder): string {
  const units = plural(order.quantity, "unit");
  if (order.status === "paid") return `${units}, yours.`;
  if (order.status === "expired")
    return order.stockTaken ? `Not paid in time; ${units} went back on sale.` : "Not paid in time.";
  if (order.status === "cancelled") {
    if (order.endReason === "sold_out") return "Nothing was left when you paid. You were charged nothing.";
    return order.stockTaken ? `You cancelled; ${units} went back on sale.` : "You cancelled.";
  }
  return order.stockTaken ? `${units} set aside for you.` : `${units} wished for; nothing is set aside until you pay.`;
}

const COUPON_TEXT: Partial<Record<OfferState, string>> = {
  open: "One each, as long as there are some.",
  not_open: "The page opens it by itself, by the lab's clock. One each.",
  sold_out: "The last one went to somebody else.",
  already_claimed: "You have this coupon; one each.",
};

export function couponText(state: OfferState): string {
  return COUPON_TEXT[state] ?? "";
}
