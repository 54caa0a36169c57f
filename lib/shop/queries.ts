import type { z } from "zod";
import { env } from "../services/current-env";
import { postgresPool, prisma } from "../services/postgres";
import type { StockTarget } from "../stock/types";
import type { productOrdersSchema, ShopClaim, ShopCoupon, ShopOrder, ShopProduct } from "./api";
import type { OrderStatus } from "./order-states";

/** Reads for the shop's pages. Lists leave out rows that belong to runs. */

const productColumns = {
  id: true,
  slug: true,
  name: true,
  description: true,
  priceCents: true,
  stock: true,
  limitPerUser: true,
  stockOn: true,
  requiresPurchaseToken: true,
  paymentWindowMs: true,
  opensAt: true,
} as const;
const couponColumns = { id: true, code: true, name: true, discountPercent: true, stock: true, opensAt: true } as const;
const MAX_ROWS = 200;

interface ProductRow extends Omit<ShopProduct, "stockOn" | "paymentWindowMs" | "opensAtEpochMs"> {
  readonly stockOn: string;
  readonly paymentWindowMs: number | null;
  readonly opensAt: Date | null;
}

export async function listProducts(): Promise<ShopProduct[]> {
  const rows = await prisma().product.findMany({
    where: { runId: null },
    orderBy: { id: "asc" },
    take: MAX_ROWS,
    select: productColumns,
  });
  return (await withBuckets("product", rows)).map(toProduct);
}

export async function findProduct(id: number): Promise<ShopProduct | null> {
  const row = await prisma().product.findUnique({ where: { id }, select: productColumns });
  const [found] = row ? await withBuckets("product", [row]) : [];
  return found ? toProduct(found) : null;
}

function toProduct({ stockOn, paymentWindowMs, opensAt, ...row }: ProductRow): ShopProduct {
  return {
    ...row,
    stockOn: stockOn === "payment" ? "payment" : "order",
    paymentWindowMs: paymentWindowMs ?? env().PAYMENT_WINDOW_MS,
    opensAtEpochMs: opensAt?.getTime() ?? null,
  };
}

export async function listCoupons(): Promise<ShopCoupon[]> {
  const rows = await prisma().coupon.findMany({
    where: { runId: null },
    orderBy: { id: "asc" },
    take: MAX_ROWS,
    select: couponColumns,
  });
  return (await withBuckets("coupon", rows)).map(toCoupon);
}

export async function findCoupon(id: number): Promise<ShopCoupon | null> {
  const row = await prisma().coupon.findUnique({ where: { id }, select: couponColumns });
  const [found] = row ? await withBuckets("coupon", [row]) : [];
  return found ? toCoupon(found) : null;
}

function toCoupon({
  opensAt,
  ...row
}: Omit<ShopCoupon, "opensAtEpochMs"> & { readonly opensAt: Date | null }): ShopCoupon {
  return { ...row, opensAtEpochMs: opensAt?.getTime() ?? null };
}

/** Adds the units in buckets: while a run of `sql-buckets` sells a target, part of its stock is not in its row. */
async function withBuckets<Row extends { readonly id: number; readonly stock: number }>(
  kind: StockTarget["kind"],
  rows: readonly Row[],
): Promise<Row[]> {
  const sums = await prisma().stockBucket.groupBy({
    by: ["targetId"],
    where: { kind, targetId: { in: rows.map(({ id }) => id) } },
    _sum: { units: true },
  });
  const inBuckets = new Map(sums.map(({ targetId, _sum }) => [targetId, _sum.units ?? 0]));
  return rows.map((row) => ({ ...row, stock: row.stock + (inBuckets.get(row.id) ?? 0) }));
}

export type ProductOrders = z.infer<typeof productOrdersSchema>;

/** Units of a product by order status, over all its orders. */
export async function readProductOrders(productId: number): Promise<ProductOrders> {
  const units = (condition: string) => `coalesce(sum(quantity) FILTER (WHERE ${condition}), 0)::int`;
  const { rows } = await postgresPool().query<ProductOrders>(
    `SELECT ${units("status = 'pending' AND stock_taken")} AS "pendingUnits",
       ${units("status = 'pending' AND NOT stock_taken")} AS "waitingUnits", ${units("status = 'paid'")} AS "paidUnits",
       ${units("status = 'cancelled'")} AS "cancelledUnits", ${units("status = 'expired'")} AS "expiredUnits",
       coalesce(sum(failed_payments), 0)::int AS "failedPayments",
       (count(*) FILTER (WHERE end_reason = 'sold_out'))::int AS "soldOutAtPayment"
     FROM orders WHERE product_id = $1::int`,
    [productId],
  );
  if (!rows[0]) throw new Error("expected one row of an aggregate query, found none");
  return rows[0];
}

/** The visitor's orders, newest first. */
export async function listOrders(buyerId: string): Promise<ShopOrder[]> {
  return readOrders("o.user_id = $1 AND o.user_id LIKE 'visitor-%'", [buyerId]);
}

/** An order of the buyer; null if it does not exist or belongs to another buyer. */
export async function findOrder(orderId: string, buyerId: string): Promise<ShopOrder | null> {
  return (await readOrders("o.user_id = $1 AND o.id = $2::bigint", [buyerId, orderId]))[0] ?? null;
}

const epochMs = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;

async function readOrders(condition: string, values: readonly unknown[]): Promise<ShopOrder[]> {
  const { rows } = await postgresPool().query<ShopOrder & { readonly status: OrderStatus }>(
    `SELECT o.id::text, o.product_id AS "productId", p.name AS "productName", p.price_cents AS "priceCents", o.quantity,
       o.status, o.stock_taken AS "stockTaken", ${epochMs("o.created_at")} AS "createdAtEpochMs",
       ${epochMs("o.expires_at")} AS "expiresAtEpochMs", ${epochMs("o.paid_at")} AS "paidAtEpochMs",
       ${epochMs("o.ended_at")} AS "endedAtEpochMs", o.end_reason AS "endReason",
       o.failed_payments AS "failedPayments", o.strategy, o.node
     FROM orders o JOIN products p ON p.id = o.product_id WHERE ${condition} ORDER BY o.id DESC LIMIT ${MAX_ROWS}`,
    [...values],
  );
  return rows;
}

/** The visitor's coupons, newest first. */
export async function listClaims(buyerId: string): Promise<ShopClaim[]> {
  const { rows } = await postgresPool().query<ShopClaim>(
    `SELECT c.id::text, c.coupon_id AS "couponId", k.code, k.name AS "couponName",
       k.discount_percent AS "discountPercent", ${epochMs("c.created_at")} AS "createdAtEpochMs", c.strategy, c.node
     FROM coupon_claims c JOIN coupons k ON k.id = c.coupon_id
     WHERE c.user_id = $1 AND c.user_id LIKE 'visitor-%' ORDER BY c.id DESC LIMIT ${MAX_ROWS}`,
    [buyerId],
  );
  return rows;
}
