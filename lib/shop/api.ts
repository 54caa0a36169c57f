import { z } from "zod";
import { ORDER_STATUSES } from "./order-states";

/** Requests and responses of the shop's routes. */

const count = z.int().min(0);
const epochMs = z.int().min(0);
const rowId = z.int().min(1).max(2_147_483_647);

/** Any id may buy, except that a `visitor-...` id requires its cookie from `GET /api/buyer`. */
export const buyerIdSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_.:@-]+$/, "may contain only letters, digits and _ . : @ -");

export const purchaseTokenSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9_-]+$/, "may contain only letters, digits, _ and -");

/** Value of the `Idempotency-Key` header. */
export const idempotencyKeySchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[\x21-\x7e]+$/, "may contain only printable ASCII without spaces");

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
    /** False: the product takes its stock at payment, so the order reserves none. */
    stockTaken: z.boolean(),
  }),
  ...served,
});

/** 201 of `POST /api/coupons/{id}/claim`. */
export const claimAnswerSchema = z.strictObject({
  order: z.strictObject({ id: z.string(), couponId: rowId, userId: z.string(), quantity: count }),
  ...served,
});

/** 200 of `GET /api/buyer`, which also sets the cookie that proves the id. */
export const buyerAnswerSchema = z.strictObject({ buyerId: z.string() });

export const productSchema = z.strictObject({
  id: rowId,
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  priceCents: count,
  /** Units left, including those in buckets. Negative if an unsafe strategy oversold. */
  stock: z.int(),
  limitPerUser: z.int().min(1).nullable(),
  stockOn: z.enum(["order", "payment"]),
  requiresPurchaseToken: z.boolean(),
  paymentWindowMs: count,
  /** Null: the sale is open. */
  opensAtEpochMs: epochMs.nullable(),
});
export type ShopProduct = z.infer<typeof productSchema>;

/** `GET /api/products`. */
export const productsAnswerSchema = z.strictObject({ products: z.array(productSchema) });

/** A stock counter outside PostgreSQL, compared with the row. */
export const driftSchema = z.strictObject({
  keptIn: z.enum(["redis", "memcached"]),
  counter: z.int(),
  stock: z.int(),
  /** Units that left the counter and have no order yet. */
  pending: count,
  /** counter - stock. Negative: units that cannot be sold. */
  drift: z.int(),
});
export type ShopDrift = z.infer<typeof driftSchema>;

/** Units of a product by the status of their orders. */
export const productOrdersSchema = z.strictObject({
  /** Reserved by unpaid orders, so not available to other buyers. */
  pendingUnits: count,
  /** In unpaid orders that reserve no stock. */
  waitingUnits: count,
  paidUnits: count,
  cancelledUnits: count,
  expiredUnits: count,
  /** Failed payment attempts. */
  failedPayments: count,
  /** Orders cancelled because the product was sold out at payment. */
  soldOutAtPayment: count,
});

/** `GET /api/products/{id}`. */
export const productAnswerSchema = z.strictObject({
  product: productSchema,
  orders: productOrdersSchema,
  /** Empty if no counter outside PostgreSQL exists, or its server does not answer. */
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
  /** Milliseconds from now on the lab's clock; 0 opens the sale at once. */
  opensInMs: z
    .int()
    .min(0)
    .max(30 * 86_400_000),
});

/** When the sale opens; null: it is open. */
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
  /** Payment deadline; null: none. */
  expiresAtEpochMs: epochMs.nullable(),
  paidAtEpochMs: epochMs.nullable(),
  endedAtEpochMs: epochMs.nullable(),
  /** `buyer`: the buyer cancelled the order. `sold_out`: the product was sold out at payment. */
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

/** `GET /api/orders`: the visitor's orders, newest first. */
export const ordersAnswerSchema = z.strictObject({ orders: z.array(orderSchema), claims: z.array(claimSchema) });

/** 200 of `GET /api/orders/{id}`, and of paying and cancelling. */
export const orderAnswerSchema = z.strictObject({ order: orderSchema });

/** Body of `POST /api/orders/{id}/pay`. The payment is simulated: the visitor chooses its outcome. */
export const payRequestSchema = z.strictObject({ outcome: z.enum(["succeed", "fail"]) });
export type PayRequest = z.infer<typeof payRequestSchema>;

/** Body of `POST /api/orders/{id}/cancel`. */
export const cancelRequestSchema = z.strictObject({});

/** Body of `POST /api/purchase-tokens`. */
export const purchaseTokenRequestSchema = z.strictObject({ productId: rowId });

/** 201 of `POST /api/purchase-tokens`; 200 if the visitor already had an unused token. */
export const purchaseTokenAnswerSchema = z.strictObject({
  purchaseToken: z.string(),
  productId: rowId,
  issuedAtEpochMs: epochMs,
});

const targetSchema = z.strictObject({ kind: z.enum(["product", "coupon"]), id: rowId });

/** Body of `POST /api/stock/reconcile`. */
export const reconcileRequestSchema = z.strictObject({
  /** Default: every target that has a journal. */
  target: targetSchema.optional(),
  /** Leaves out younger entries, whose orders may still be written. Use 0 only if no purchase is running. */
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
  /** Counters that could not be reconciled, each with the reason. */
  failed: z.array(z.string()),
});
export type ReconcileAnswer = z.infer<typeof reconcileAnswerSchema>;

/** `GET /api/stock/drift?kind=product&id=1`. */
export const driftQuerySchema = z.strictObject({
  kind: z.enum(["product", "coupon"]),
  id: z.coerce.number().int().min(1).max(2_147_483_647),
});
export const driftAnswerSchema = z.strictObject({ target: targetSchema, drift: z.array(driftSchema) });

/** Body of `POST /api/locks/break`, which deletes a lock that has no expiry, even if its holder is alive. */
export const breakLockRequestSchema = z.strictObject({ strategy: z.string().min(1).max(64), target: targetSchema });
export const breakLockAnswerSchema = z.strictObject({
  strategy: z.string(),
  resource: z.string(),
  /** False: the lock was free. */
  broken: z.boolean(),
});
