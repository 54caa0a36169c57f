import {
  buyerAnswerSchema,
  cancelRequestSchema,
  orderAnswerSchema,
  ordersAnswerSchema,
  payRequestSchema,
  purchaseTokenAnswerSchema,
  purchaseTokenRequestSchema,
} from "../../shop/api";
import { issuePurchaseToken } from "../../shop/purchase-tokens";
import { findOrder, listClaims, listOrders } from "../../shop/queries";
import { json } from "../answer";
import { identifyVisitor, requireVisitor } from "../buyer-cookie";
import { HttpError } from "../errors";
import { cancelOwnOrder, payOwnOrder, storeNodeHeader } from "../order-action";
import { type Route, route } from "../route";
import { orderActionErrors } from "./error-lists";
import { idempotencyHeaders, orderId } from "./fields";

const read = { method: "get", tag: "shop", access: "anyone" } as const;
const write = { method: "post", tag: "shop", access: "same-site" } as const;
const action = {
  ...write,
  runsAtStoreNode: true,
  params: { id: orderId },
  headers: idempotencyHeaders,
  errorHeaders: storeNodeHeader,
} as const;

/** What visitors do with their own orders. */
export const orderRoutes: readonly Route[] = [
  route({
    ...read,
    path: "/api/buyer",
    summary: "Returns the visitor's anonymous id. It stays the same while the client sends the cookie.",
    answers: {
      200: {
        description: "The visitor.",
        schema: buyerAnswerSchema,
        headers: { "set-cookie": "Proves the visitor's identity for half a year." },
      },
    },
    errors: [],
    handler: async ({ raw }) => {
      const { buyerId, setCookie } = await identifyVisitor(raw.headers.cookie ?? null);
      return json({ buyerId }, { headers: { "set-cookie": setCookie } });
    },
  }),
  route({
    ...read,
    path: "/api/orders",
    summary: "Lists the visitor's orders and coupons, newest first.",
    answers: { 200: { description: "The visitor's own.", schema: ordersAnswerSchema } },
    errors: ["buyer_required"],
    handler: async ({ raw }) => {
      const buyerId = await requireVisitor(raw.headers.cookie ?? null);
      const [orders, claims] = await Promise.all([listOrders(buyerId), listClaims(buyerId)]);
      return json({ orders, claims });
    },
  }),
  route({
    ...read,
    path: "/api/orders/{id}",
    summary: "Reads one of the visitor's orders.",
    params: { id: orderId },
    answers: { 200: { description: "The order.", schema: orderAnswerSchema } },
    errors: ["buyer_required", "order_not_found"],
    handler: async ({ params: { id }, raw }) => {
      const order = await findOrder(id, await requireVisitor(raw.headers.cookie ?? null));
      if (!order) throw new HttpError({ code: "order_not_found", message: `You have no order ${id}.` });
      return json({ order });
    },
  }),
  route({
    ...action,
    path: "/api/orders/{id}/pay",
    summary: "Simulates the payment of an order. If the product's stock is taken at payment, this is the purchase.",
    body: payRequestSchema,
    answers: { 200: { description: "Paid.", schema: orderAnswerSchema } },
    errors: [...orderActionErrors, "payment_failed", "sold_out"],
    handler: payOwnOrder,
  }),
  route({
    ...action,
    path: "/api/orders/{id}/cancel",
    summary: "Cancels a pending order. Its units go back on sale.",
    body: cancelRequestSchema,
    answers: { 200: { description: "Cancelled.", schema: orderAnswerSchema } },
    errors: [...orderActionErrors, "sale_running"],
    handler: cancelOwnOrder,
  }),
  route({
    ...write,
    path: "/api/purchase-tokens",
    summary: "Issues the right to buy a product once, before its sale starts.",
    body: purchaseTokenRequestSchema,
    answers: {
      200: { description: "The visitor's unused token.", schema: purchaseTokenAnswerSchema },
      201: { description: "A new token.", schema: purchaseTokenAnswerSchema },
    },
    errors: ["buyer_required", "product_not_found"],
    handler: async ({ body, raw }) => {
      const buyerId = await requireVisitor(raw.headers.cookie ?? null);
      const { isNew, ...token } = await issuePurchaseToken(body.productId, buyerId);
      return json(token, { status: isNew ? 201 : 200 });
    },
  }),
];
