import { prisma } from "../services/postgres";
import type { StockTarget } from "../stock/types";

/** What the shop shows of a product; rows that runs made for themselves are left out of lists. */
export interface ShopProduct {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly priceCents: number;
  readonly stock: number;
}

export interface ShopCoupon {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly discountPercent: number;
  /** Claims left. */
  readonly stock: number;
}

const productColumns = { id: true, slug: true, name: true, description: true, priceCents: true, stock: true } as const;
const couponColumns = { id: true, code: true, name: true, discountPercent: true, stock: true } as const;
const MAX_ROWS = 200;

export async function listProducts(): Promise<ShopProduct[]> {
  const rows = await prisma().product.findMany({
    where: { runId: null },
    orderBy: { id: "asc" },
    take: MAX_ROWS,
    select: productColumns,
  });
  return withBuckets("product", rows);
}

export async function findProduct(id: number): Promise<ShopProduct | null> {
  const row = await prisma().product.findUnique({ where: { id }, select: productColumns });
  return row && ((await withBuckets("product", [row]))[0] ?? null);
}

export async function listCoupons(): Promise<ShopCoupon[]> {
  const rows = await prisma().coupon.findMany({
    where: { runId: null },
    orderBy: { id: "asc" },
    take: MAX_ROWS,
    select: couponColumns,
  });
  return withBuckets("coupon", rows);
}

/** While a run of `sql-buckets` sells it, part of a target's stock lies beside its row. */
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
