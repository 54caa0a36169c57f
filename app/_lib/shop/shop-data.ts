import { prisma } from "@/lib/services/postgres";
import type { ShopCoupon, ShopProduct } from "@/lib/shop/api";
import { findCoupon, findProduct, listCoupons, listProducts, readProductOrders } from "@/lib/shop/queries";
import type { ProductView } from "./views";

/** Server-side data of the shop's pages; client components must not import this module. */

const MAX_ROW_ID = 2_147_483_647;

/** Parses an id from the URL; null if it is not valid. */
function rowIdOf(text: string): number | null {
  const id = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  return id >= 1 && id <= MAX_ROW_ID ? id : null;
}

export interface OffersOnSale {
  readonly products: readonly ShopProduct[];
  readonly coupons: readonly ShopCoupon[];
}

export async function readOffers(): Promise<OffersOnSale> {
  const [products, coupons] = await Promise.all([listProducts(), listCoupons()]);
  return { products, coupons };
}

export interface OwnedByRun {
  /** The run that created this row; null for a row of the shop. */
  readonly runId: string | null;
}

export async function readProduct(idText: string): Promise<(ProductView & OwnedByRun) | null> {
  const id = rowIdOf(idText);
  const product = id === null ? null : await findProduct(id);
  if (id === null || product === null) return null;
  const [orders, row] = await Promise.all([
    readProductOrders(id),
    prisma().product.findUnique({ where: { id }, select: { runId: true } }),
  ]);
  return { product, orders, drift: [], runId: row?.runId ?? null };
}

export async function readCoupon(idText: string): Promise<({ readonly coupon: ShopCoupon } & OwnedByRun) | null> {
  const id = rowIdOf(idText);
  const coupon = id === null ? null : await findCoupon(id);
  if (id === null || coupon === null) return null;
  const row = await prisma().coupon.findUnique({ where: { id }, select: { runId: true } });
  return { coupon, runId: row?.runId ?? null };
}
