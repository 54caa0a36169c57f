import type { StockOutcome, StockTarget } from "../stock/types";
import { errorBody, type HttpError } from "./errors";

/** What the hot routes answer. */

export interface HotResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `x-store-node` and `x-lock-strategy` say who served it. */
export type HotHeaders = Record<string, string>;

export interface SoldOrder {
  readonly orderId: string;
  readonly target: StockTarget;
  readonly buyerId: string;
  readonly quantity: number;
  /** False: the payment takes the stock, the order reserved none. */
  readonly stockTaken: boolean;
}

export function soldAnswer(headers: HotHeaders, sold: SoldOrder): HotResponse {
  const { orderId: id, target, buyerId: userId, quantity, stockTaken } = sold;
  const order =
    target.kind === "product"
      ? { id, productId: target.id, userId, quantity, status: "pending", stockTaken }
      : { id, couponId: target.id, userId, quantity };
  return { status: 201, headers, body: JSON.stringify({ order, ...servedBy(headers) }) };
}

export function unsoldAnswer(
  headers: HotHeaders,
  outcome: Exclude<StockOutcome, { readonly status: "sold" }>,
): HotResponse {
  const { status, code, message, retryAfterSeconds } = refusals[outcome.status];
  const at = servedBy(headers);
  const details =
    outcome.status === "contended" ? { ...at, waitedMs: Math.round(outcome.waitedMs), attempts: outcome.attempts } : at;
  return {
    status,
    headers: retryAfterSeconds ? { ...headers, "retry-after": String(retryAfterSeconds) } : headers,
    body: JSON.stringify(errorBody({ status, code, message, details })),
  };
}

export function refusalAnswer(headers: HotHeaders, { options }: HttpError): HotResponse {
  return {
    status: options.status,
    headers: { ...headers, ...options.headers },
    body: JSON.stringify(errorBody(options)),
  };
}

function servedBy(headers: HotHeaders) {
  return { strategy: headers["x-lock-strategy"], node: headers["x-store-node"] };
}

const refusals = {
  sold_out: { status: 409, code: "sold_out", message: "Sold out.", retryAfterSeconds: 0 },
  limit_reached: {
    status: 409,
    code: "limit_reached",
    message: "You already have as many as one buyer may have.",
    retryAfterSeconds: 0,
  },
  already_claimed: {
    status: 409,
    code: "already_claimed",
    message: "You have already claimed this coupon.",
    retryAfterSeconds: 0,
  },
  token_used: {
    status: 409,
    code: "purchase_token_used",
    message: "purchaseToken: it has been used.",
    retryAfterSeconds: 0,
  },
  repeated_key: {
    status: 409,
    code: "idempotency_in_progress",
    message: "Idempotency-Key: there is an order with it already; ask again.",
    retryAfterSeconds: 1,
  },
  contended: {
    status: 503,
    code: "contended",
    message: "Too many buyers at once; try again.",
    retryAfterSeconds: 1,
  },
};
