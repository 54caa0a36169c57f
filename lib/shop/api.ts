import { z } from "zod";
import { ORDER_STATUSES } from "./order-states";

/** The shop's part of the HTTP contract: what its routes take and answer. */

const count = z.int().min(0);
const epochMs = z.int().min(0);
const rowId = z.int().min(1).max(2_147_483_647);

/** A buyer. `visitor-...` ids are the shop's own and need the cookie of `GET /api/buyer`; others may be anything. */
export const buyerIdSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_.:@-]+$/, "may hold letters, digits and _ . : @ - only");

export const purchaseTokenSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_-]+$/, "may hold letters, digits, _ and - only");

/** Value of the `Idempotency-Key` header. */
export const idempotencyKeySchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x21-\x7e]+$/, "may hold printable ASCII without spaces only");

/** Body of `POST /api/products/{id}/reduce-stock`. */
export const reduceStockRequestSchema = z.strictObject({
  userId: buyerIdSchema,
  quantity: z.int().min(1).max(100).default(1),
  purchaseToken: purchaseTokenSchema.optional(),
});

/** Body of `POST /api/coupons/{id}/claim`. */
export const claimRequestSchema = z.strictObject({ userId: buyerIdSchema });

const served = { strategy: z.string(), node: z.string() };

/** 201 of `POST /api/products/{id}/reduce-stock`. */
export const reduceStockAnswerSchema = z.strictObject({
  order: z.strictObject({
    id: z.string(),
    productId: rowId,
    userId: z.string(),
    quantity: count,
    status: z.literal("pending"),
    /** False: the product takes its stock at the payment; the order reserves nothing. */
    stockTaken: z.boolean(),
  }),
  ...served,
});

/** 201 of `POST /api/coupons/{id}/claim`. */
export const claimAnswerSchema = z.strictObject({
  order: z.strictObject({ id: z.string(), couponId: rowId, userId: z.string(), quantity: count }),
  ...served,
});

/** `GET /api/buyer`, which also sets the cookie that proves it. */
export const buyerAnswerSchema = z.strictObject({ buyerId: z.string() });

export const productSchema = z.strictObject({
  id: rowId,
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  priceCents: count,
  /** Units left, buckets included; below zero where an unsafe strategy oversold. */
  stock: z.int(),
  limitPerUser: z.int().min(1).nullable(),
  stockOn: z.enum(["order", "payment"]),
  requiresPurchaseToken: z.boolean(),
  paymentWindowMs: count,
  /** Null: open. */
  opensAtEpochMs: epochMs.nullable(),
});
export type ShopProduct = z.infer<typeof productSchema>;

/** `GET /api/products`. */
export const productsAnswerSchema = z.strictObject({ products: z.array(productSchema) });

/** A count that a strategy keeps outside of PostgreSQL, beside the row. */
export const driftSchema = z.strictObject({
  keptIn: z.enum(["redis", "memcached"]),
  counter: z.int(),
  stock: z.int(),
  /** Units between the counter and their orders. */
  pending: count,
  /** counter - stock. Below zero: units that nobody can buy. */
  drift: z.int(),
});
export type ShopDrift = z.infer<typeof driftSchema>;

/** What became of a product's units. */
export const productOrdersSchema = z.strictObject({
  /** Off the stock for orders that are not paid yet: blocked for everybody else. */
  pendingUnits: count,
  /** In pending orders that took nothing yet: wished for, not reserved. */
  waitingUnits: count,
  paidUnits: count,
  cancelledUnits: count,
  expiredUnits: count,
  /** Payments that were tried and failed. */
  failedPayments: count,
  /** Orders cancelled because nothing was left when they were paid. */
  soldOutAtPayment: count,
});

/** `GET /api/products/{id}`. */
export const productAnswerSchema = z.strictObject({
  product: productSchema,
  orders: productOrdersSchema,
  /** Empty where nothing is counted beside the row at the moment, or its server does not answer. */
  drift: z.array(driftSchema),
});

export const couponSchema = z.strictObject({
  id: rowId,
  code: z.string(),
  name: z.string(),
  discountPercent: count,
  /** Claims left. */
  stock: z.int(),
  opensAtEpochMs: epochMs.nullable(),
});
export type ShopCoupon = z.infer<typeof couponSchema>;

/** `GET /api/coupons/{id}`. */
export const couponAnswerSchema = z.strictObject({ coupon: couponSchema });

/** Body of `PUT /api/products/{id}/opening` and `PUT /api/coupons/{id}/opening`. */
export const openingRequestSchema = z.strictObject({
  /** From now on, by the lab's clock; 0: open at once. */
  opensInMs: z
    .int()
    .min(0)
    .max(30 * 86_400_000),
});

/** When nobody could buy before; null: it is open. */
export const openingAnswerSchema = z.strictObject({ opensAtEpochMs: epochMs.nullable() });

/** `GET /api/coupons`. */
export const couponsAnswerSchema = z.strictObject({ coupons: z.array(couponSchema) });

export const orderSchema = z.strictObject({
  id: z.string(),
  productId: rowId,
  productName: z.string(),
  priceCents: count,
  quantity: count,
  status: z.enum(ORDER_STATUSES),
  stockTaken: z.boolean(),
  createdAtEpochMs: epochMs,
  /** When it expires unless it is paid; null: never. */
  expiresAtEpochMs: epochMs.nullable(),
  paidAtEpochMs: epochMs.nullable(),
  endedAtEpochMs: epochMs.nullable(),
  /** buyer: cancelled by the buyer; sold_out: nothing was left when it was paid. */
  endReason: z.string().nullable(),
  failedPayments: count,
  ...served,
});
export type ShopOrder = z.infer<typeof orderSchema>;

export const claimSchema = z.strictObject({
  id: z.string(),
  couponId: rowId,
  code: z.string(),
  couponName: z.string(),
  discountPercent: count,
  createdAtEpochMs: epochMs,
  ...served,
});
export type ShopClaim = z.infer<typeof claimSchema>;

/** `GET /api/orders`: the visitor's own, newest first. */
export const ordersAnswerSchema = z.strictObject({ orders: z.array(orderSchema), claims: z.array(claimSchema) });

/** `GET /api/orders/{id}`, and what paying and cancelling answer. */
export const orderAnswerSchema = z.strictObject({ order: orderSchema });

/** Body of `POST /api/orders/{id}/pay`. The payment is simulated: the visitor says how it goes. */
export const payRequestSchema = z.strictObject({ outcome: z.enum(["succeed", "fail"]) });
export type PayRequest = z.infer<typeof payRequestSchema>;

/** Body of `POST /api/orders/{id}/cancel`. */
export const cancelRequestSchema = z.strictObject({});

/** Body of `POST /api/purchase-tokens`. */
export const purchaseTokenRequestSchema = z.strictObject({ productId: rowId });

/** 201 of `POST /api/purchase-tokens`; 200 when the visitor had an unused one. */
export const purchaseTokenAnswerSchema = z.strictObject({
  purchaseToken: z.string(),
  productId: rowId,
  issuedAtEpochMs: epochMs,
});

const targetSchema = z.strictObject({ kind: z.enum(["product", "coupon"]), id: rowId });

/** Body of `POST /api/stock/reconcile`. */
export const reconcileRequestSchema = z.strictObject({
  /** Absent: whatever has a journal. */
  target: targetSchema.optional(),
  /** Younger entries are left alone, since their orders may be on their way; 0 where nobody is buying. */
  olderThanMs: z.int().min(0).max(86_400_000).optional(),
});
export type ReconcileRequest = z.infer<typeof reconcileRequestSchema>;

export const reconcileAnswerSchema = z.strictObject({
  settled: z.array(
    z.strictObject({
      target: targetSchema,
      keptIn: z.enum(["redis", "memcached"]),
      kept: count,
      givenBack: count,
      pending: count,
      corrected: z.int(),
    }),
  ),
  /** Counters that could not be looked at, each with the reason. */
  failed: z.array(z.string()),
});
export type ReconcileAnswer = z.infer<typeof reconcileAnswerSchema>;

/** `GET /api/stock/drift?kind=product&id=1`. */
export const driftQuerySchema = z.strictObject({
  kind: z.enum(["product", "coupon"]),
  id: z.coerce.number().int().min(1).max(2_147_483_647),
});
export const driftAnswerSchema = z.strictObject({ target: targetSchema, drift: z.array(driftSchema) });

/** Body of `POST /api/locks/break`: deletes a lock that nobody would ever free, whoever holds it. */
export const breakLockRequestSchema = z.strictObject({ strategy: z.string().min(1).max(64), target: targetSchema });
export const breakLockAnswerSchema = z.strictObject({
  strategy: z.string(),
  resource: z.string(),
  /** False: nobody held it. */
  broken: z.boolean(),
});
