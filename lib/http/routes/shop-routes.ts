import { z } from "zod";
import { purchaseBodySchemas } from "../hot-path";
import { couponOrderSchema, couponSchema, productOrderSchema, productSchema } from "./answers";
import { purchaseErrors } from "./error-codes";
import { rowId, runHeaders } from "./params";
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
    headers: runHeaders,
    body: purchaseBodySchemas.product,
    answers: { 201: { description: "Sold: the order.", schema: productOrderSchema, headers: served } },
    errors: [...purchaseErrors, "limit_reached"],
  },
  {
    method: "post",
    path: "/api/coupons/{id}/claim",
    summary: "One coupon claim, one a user.",
    tag: "sale",
    access: "anyone",
    served: "hot",
    params: { id: rowId },
    headers: runHeaders,
    body: purchaseBodySchemas.coupon,
    answers: { 201: { description: "Claimed: the order.", schema: couponOrderSchema, headers: served } },
    errors: [...purchaseErrors, "already_claimed"],
  },
  {
    method: "get",
    path: "/api/products",
    summary: "Products on sale.",
    tag: "shop",
    access: "anyone",
    served: "next",
    answers: { 200: { description: "All of them.", schema: z.object({ products: z.array(productSchema) }) } },
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
    answers: { 200: { description: "The product.", schema: z.object({ product: productSchema }) } },
    errors: [],
  },
  {
    method: "get",
    path: "/api/coupons",
    summary: "Coupons to claim.",
    tag: "shop",
    access: "anyone",
    served: "next",
    answers: { 200: { description: "All of them.", schema: z.object({ coupons: z.array(couponSchema) }) } },
    errors: [],
  },
];
