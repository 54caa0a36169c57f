import {
  claimAnswerSchema,
  couponAnswerSchema,
  couponsAnswerSchema,
  openingAnswerSchema,
  openingRequestSchema,
  productAnswerSchema,
  productsAnswerSchema,
  reduceStockAnswerSchema,
} from "../../shop/api";
import { purchaseBodySchemas } from "../hot-path";
import { purchaseErrors } from "./error-codes";
import { idempotencyHeaders, rowId, runHeaders } from "./params";
import type { Route } from "./route";

const served = { "x-lock-strategy": "The strategy it was served under.", "x-store-node": "The node that served it." };

export const shopRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/api/products/{id}/reduce-stock",
    summary: "One purchase under the strategy of the run that owns the product, else under the active one.",
    tag: "sale",
    access: "anyone",
    served: "hot",
    params: { id: rowId },
    headers: { ...runHeaders, ...idempotencyHeaders },
    body: purchaseBodySchemas.product,
    answers: { 201: { description: "Sold: the order.", schema: reduceStockAnswerSchema, headers: served } },
    errors: [
      ...purchaseErrors,
      "limit_reached",
      "purchase_token_missing",
      "purchase_token_unknown",
      "purchase_token_foreign",
      "purchase_token_used",
    ],
  },
  {
    method: "post",
    path: "/api/coupons/{id}/claim",
    summary: "One coupon claim, one a user.",
    tag: "sale",
    access: "anyone",
    served: "hot",
    params: { id: rowId },
    headers: { ...runHeaders, ...idempotencyHeaders },
    body: purchaseBodySchemas.coupon,
    answers: { 201: { description: "Claimed: the order.", schema: claimAnswerSchema, headers: served } },
    errors: [...purchaseErrors, "already_claimed"],
  },
  {
    method: "get",
    path: "/api/products",
    summary: "Products on sale.",
    tag: "shop",
    access: "anyone",
    served: "next",
    answers: { 200: { description: "All of them.", schema: productsAnswerSchema } },
    errors: [],
  },
  {
    method: "get",
    path: "/api/products/{id}",
    summary: "One product.",
    tag: "shop",
    access: "anyone",
    served: "next",
    params: { id: rowId },
    answers: { 200: { description: "The product.", schema: productAnswerSchema } },
    errors: [],
  },
  {
    method: "get",
    path: "/api/coupons",
    summary: "Coupons to claim.",
    tag: "shop",
    access: "anyone",
    served: "next",
    answers: { 200: { description: "All of them.", schema: couponsAnswerSchema } },
    errors: [],
  },
  {
    method: "get",
    path: "/api/coupons/{id}",
    summary: "One coupon.",
    tag: "shop",
    access: "anyone",
    served: "next",
    params: { id: rowId },
    answers: { 200: { description: "The coupon.", schema: couponAnswerSchema } },
    errors: [],
  },
  openingRoute("product"),
  openingRoute("coupon"),
];

function openingRoute(kind: "product" | "coupon"): Route {
  return {
    method: "put",
    path: `/api/${kind}s/{id}/opening`,
    summary: `Says when the sale of a ${kind} opens, counted from now.`,
    tag: "shop",
    access: "admin",
    served: "next",
    params: { id: rowId },
    body: openingRequestSchema,
    answers: { 200: { description: "When it opens.", schema: openingAnswerSchema } },
    errors: ["product_not_found"],
  };
}
