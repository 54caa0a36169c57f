import { prisma } from "../services/postgres";

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

export function listProducts(): Promise<ShopProduct[]> {
  return prisma().product.findMany({
    where: { runId: null },
    orderBy: { id: "asc" },
    take: MAX_ROWS,
    select: productColumns,
  });
}

export function findProduct(id: number): Promise<ShopProduct | null> {
  return prisma().product.findUnique({ where: { id }, select: productColumns });
}

export function listCoupons(): Promise<ShopCoupon[]> {
  return prisma().coupon.findMany({
    where: { runId: null },
    orderBy: { id: "asc" },
    take: MAX_ROWS,
    select: couponColumns,
  });
}
