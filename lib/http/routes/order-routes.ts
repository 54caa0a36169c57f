import { z } from "zod";
import {
  breakLockAnswerSchema,
  breakLockRequestSchema,
  buyerAnswerSchema,
  cancelRequestSchema,
  driftAnswerSchema,
  driftQuerySchema,
  orderAnswerSchema,
  ordersAnswerSchema,
  payRequestSchema,
  purchaseTokenAnswerSchema,
  purchaseTokenRequestSchema,
  reconcileAnswerSchema,
  reconcileRequestSchema,
} from "../../shop/api";
import type { ErrorCode } from "./error-codes";
import { idempotencyHeaders } from "./params";
import type { Route } from "./route";

const mine = { tag: "shop", access: "anyone", served: "next" } as const;
const operator = { tag: "operation", access: "admin", served: "next" } as const;
const orderId = z
  .string()
  .regex(/^[1-9][0-9]{0,17}$/)
  .describe("As the purchase answered it.");
const cookie = { "set-cookie": "Proves for half a year that this is the same visitor." };
const actionErrors: readonly ErrorCode[] = [
  "buyer_required",
  "cross_site",
  "order_not_found",
  "order_not_pending",
  "order_expired",
  "idempotency_mismatch",
  "idempotency_in_progress",
  "rate_limited",
  "overloaded",
  "contended",
  "lease_lost",
  "fence_stale",
  "aborted",
  "outcome_unknown",
];

/** What a buyer does beside buying, and what an operator does about counters and locks. */
export const orderRoutes: readonly Route[] = [
  {
    ...mine,
    method: "get",
    path: "/api/buyer",
    summary: "Who the visitor is: an anonymous id, the same as last time where the cookie comes along.",
    answers: { 200: { description: "The visitor.", schema: buyerAnswerSchema, headers: cookie } },
    errors: [],
  },
  {
    ...mine,
    method: "get",
    path: "/api/orders",
    summary: "The visitor's orders and coupons, newest first.",
    answers: { 200: { description: "His own.", schema: ordersAnswerSchema } },
    errors: ["buyer_required"],
  },
  {
    ...mine,
    method: "get",
    path: "/api/orders/{id}",
    summary: "One of the visitor's orders.",
    params: { id: orderId },
    answers: { 200: { description: "The order.", schema: orderAnswerSchema } },
    errors: ["buyer_required", "order_not_found"],
  },
  {
    ...mine,
    method: "post",
    path: "/api/orders/{id}/pay",
    summary: "A simulated payment; where the product takes its stock at the payment, the purchase itself.",
    params: { id: orderId },
    headers: idempotencyHeaders,
    body: payRequestSchema,
    answers: { 200: { description: "Paid.", schema: orderAnswerSchema } },
    errors: [...actionErrors, "payment_failed", "sold_out"],
  },
  {
    ...mine,
    method: "post",
    path: "/api/orders/{id}/cancel",
    summary: "Cancels a pending order; its units go back on sale.",
    params: { id: orderId },
    headers: idempotencyHeaders,
    body: cancelRequestSchema,
    answers: { 200: { description: "Cancelled.", schema: orderAnswerSchema } },
    errors: [...actionErrors, "sale_running"],
  },
  {
    ...mine,
    method: "post",
    path: "/api/purchase-tokens",
    summary: "A one-time right to buy a product, issued before its sale.",
    body: purchaseTokenRequestSchema,
    answers: {
      200: { description: "The visitor has an unused one: this.", schema: purchaseTokenAnswerSchema },
      201: { description: "A new one.", schema: purchaseTokenAnswerSchema },
    },
    errors: ["buyer_required", "cross_site", "product_not_found"],
  },
  {
    ...mine,
    method: "get",
    path: "/api/stock/drift",
    summary: "What is counted of a target beside PostgreSQL, and how far it is from the row.",
    query: driftQuerySchema,
    answers: { 200: { description: "One entry a counter.", schema: driftAnswerSchema } },
    errors: [],
  },
  {
    ...operator,
    method: "post",
    path: "/api/stock/reconcile",
    summary: "Settles what crashes and lost replies have left between counters and orders.",
    body: reconcileRequestSchema,
    answers: { 200: { description: "What was settled.", schema: reconcileAnswerSchema } },
    errors: [],
  },
  {
    ...operator,
    method: "post",
    path: "/api/locks/break",
    summary: "Deletes a lock that nobody would ever free, whoever holds it.",
    body: breakLockRequestSchema,
    answers: { 200: { description: "Whether there was one.", schema: breakLockAnswerSchema } },
    errors: ["unknown_strategy", "lock_expires_by_itself"],
  },
];
