import type { StockOutcome, StockTarget } from "../stock/types";
import { errorAnswer, JSON_HEADERS, type WholeAnswer } from "./answer";
import type { ErrorCode } from "./error-table";

/** Every answer of a purchase names the node and the strategy that served it. */
export interface ServedBy {
  readonly node: string;
  readonly strategy: string;
}

export interface SoldOrder {
  readonly orderId: string;
  readonly target: StockTarget;
  readonly buyerId: string;
  readonly quantity: number;
  /** False: the payment takes the stock, so the order has reserved none. */
  readonly stockTaken: boolean;
}

export function servedByHeaders({ node, strategy }: ServedBy): Record<string, string> {
  return { "x-store-node": node, "x-lock-strategy": strategy };
}

export function soldAnswer({ node, strategy }: ServedBy, sold: SoldOrder): WholeAnswer {
  const { orderId: id, target, buyerId: userId, quantity, stockTaken } = sold;
  const order =
    target.kind === "product"
      ? { id, productId: target.id, userId, quantity, status: "pending", stockTaken }
      : { id, couponId: target.id, userId, quantity };
  return {
    status: 201,
    headers: { ...JSON_HEADERS, "x-store-node": node, "x-lock-strategy": strategy },
    body: JSON.stringify({ order, strategy, node }),
    code: null,
  };
}

type UnsoldOutcome = Exclude<StockOutcome, { readonly status: "sold" }>;

const codeOfOutcome: Readonly<Record<UnsoldOutcome["status"], ErrorCode>> = {
  sold_out: "sold_out",
  limit_reached: "limit_reached",
  already_claimed: "already_claimed",
  token_used: "purchase_token_used",
  repeated_key: "idempotency_in_progress",
  contended: "contended",
};

export function unsoldAnswer(servedBy: ServedBy, outcome: UnsoldOutcome): WholeAnswer {
  const { node, strategy } = servedBy;
  const details =
    outcome.status === "contended"
      ? { strategy, node, waitedMs: Math.round(outcome.waitedMs), attempts: outcome.attempts }
      : { strategy, node };
  return errorAnswer({ code: codeOfOutcome[outcome.status], details }, servedByHeaders(servedBy));
}
