import { currentNode } from "../../node/current-node";
import {
  claimAnswerSchema,
  claimRequestSchema,
  couponAnswerSchema,
  couponsAnswerSchema,
  openingAnswerSchema,
  openingRequestSchema,
  productAnswerSchema,
  productsAnswerSchema,
  reduceStockAnswerSchema,
  reduceStockRequestSchema,
} from "../../shop/api";
import { driftOf } from "../../shop/counters";
import { setOpening } from "../../shop/opening";
import { findCoupon, findProduct, listCoupons, listProducts, readProductOrders } from "../../shop/queries";
import { json } from "../answer";
import { notFound } from "../errors";
import { claimCoupon, hotErrorHeaders, reduceStock } from "../purchase-handler";
import { type Route, route } from "../route";
import { purchaseErrors } from "./error-lists";
import { idempotencyHeaders, rowId, runHeaders } from "./fields";

const hot = {
  method: "post",
  tag: "sale",
  access: "anyone",
  runsAtStoreNode: true,
  params: { id: rowId },
  headers: { ...runHeaders, ...idempotencyHeaders },
  maxBodyBytes: 1_024,
  errorHeaders: hotErrorHeaders,
} as const;
const servedBy = {
  "x-lock-strategy": "The strategy that served the purchase.",
  "x-store-node": "The node that served the purchase.",
};
const read = { method: "get", tag: "shop", access: "anyone" } as const;

/** What is on sale, and buying it. */
export const shopRoutes: readonly Route[] = [
  route({
    ...hot,
    path: "/api/products/{id}/reduce-stock",
    summary: "Buys a product with the strategy of the run that owns it, or with the active strategy.",
    body: reduceStockRequestSchema,
    answers: { 201: { description: "Sold: the order.", schema: reduceStockAnswerSchema, headers: servedBy } },
    errors: [
      ...purchaseErrors,
      "limit_reached",
      "purchase_token_missing",
      "purchase_token_unknown",
      "purchase_token_foreign",
      "purchase_token_used",
    ],
    handler: reduceStock,
  }),
  route({
    ...hot,
    path: "/api/coupons/{id}/claim",
    summary: "Claims a coupon. Each user can claim it once.",
    body: claimRequestSchema,
    answers: { 201: { description: "Claimed: the order.", schema: claimAnswerSchema, headers: servedBy } },
    errors: [...purchaseErrors, "already_claimed"],
    handler: claimCoupon,
  }),
  route({
    ...read,
    path: "/api/products",
    summary: "Lists the products on sale.",
    answers: { 200: { description: "All products.", schema: productsAnswerSchema } },
    errors: [],
    handler: async () => json({ products: await listProducts() }),
  }),
  route({
    ...read,
    path: "/api/products/{id}",
    summary: "Reads a product, its orders, and the counters that strategies keep outside PostgreSQL.",
    params: { id: rowId },
    answers: { 200: { description: "The product.", schema: productAnswerSchema } },
    errors: [],
    handler: async ({ params: { id } }) => {
      const product = await findProduct(id);
      if (!product) throw notFound(`product ${id}`);
      const target = { kind: "product", id } as const;
      const [orders, drift] = await Promise.all([readProductOrders(id), driftOf(currentNode(), target)]);
      return json({ product, orders, drift });
    },
  }),
  route({
    ...read,
    path: "/api/coupons",
    summary: "Lists the coupons.",
    answers: { 200: { description: "All coupons.", schema: couponsAnswerSchema } },
    errors: [],
    handler: async () => json({ coupons: await listCoupons() }),
  }),
  route({
    ...read,
    path: "/api/coupons/{id}",
    summary: "Reads a coupon.",
    params: { id: rowId },
    answers: { 200: { description: "The coupon.", schema: couponAnswerSchema } },
    errors: [],
    handler: async ({ params: { id } }) => {
      const coupon = await findCoupon(id);
      if (!coupon) throw notFound(`coupon ${id}`);
      return json({ coupon });
    },
  }),
  openingRoute("product"),
  openingRoute("coupon"),
];

function openingRoute(kind: "product" | "coupon"): Route {
  return route({
    method: "put",
    path: `/api/${kind}s/{id}/opening`,
    summary: `Sets when the sale of the ${kind} starts, counted from now.`,
    tag: "shop",
    access: "admin",
    params: { id: rowId },
    body: openingRequestSchema,
    answers: { 200: { description: "The start time.", schema: openingAnswerSchema } },
    errors: ["product_not_found"],
    handler: async ({ params: { id }, body }) =>
      json({ opensAtEpochMs: await setOpening({ kind, id }, body.opensInMs) }),
  });
}
