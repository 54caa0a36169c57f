import { randomUUID } from "node:crypto";
import { prisma } from "../../lib/services/postgres";

/** Optional sale terms of a product. */
export interface ProductTerms {
  readonly limitPerUser?: number;
  readonly stockOn?: "order" | "payment";
  readonly paymentWindowMs?: number;
  readonly requiresPurchaseToken?: boolean;
  readonly opensAt?: Date;
  /** Null if the shop lists the product. */
  readonly runId?: null;
}

/** Creates a product for the test. @returns its id */
export async function makeProduct(stock: number, terms: ProductTerms = {}): Promise<number> {
  const slug = `test-${randomUUID()}`;
  const data = { slug, name: slug, priceCents: 100, stock, runId: "test", ...terms };
  return (await prisma().product.create({ data })).id;
}

/** Creates a coupon for the test. @returns its id */
export async function makeCoupon(stock: number): Promise<number> {
  const code = `TEST-${randomUUID()}`;
  const row = await prisma().coupon.create({ data: { code, name: code, discountPercent: 10, stock, runId: "test" } });
  return row.id;
}

export async function productFacts(id: number): Promise<{ stock: number; orders: number }> {
  const row = await prisma().product.findUniqueOrThrow({ where: { id }, select: { stock: true } });
  return { stock: row.stock, orders: await prisma().order.count({ where: { productId: id } }) };
}

export async function couponFacts(id: number): Promise<{ stock: number; claims: number }> {
  const row = await prisma().coupon.findUniqueOrThrow({ where: { id }, select: { stock: true } });
  return { stock: row.stock, claims: await prisma().couponClaim.count({ where: { couponId: id } }) };
}
