import { prisma } from "../services/postgres";
import type { StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

/**
 * Sets when a sale opens. Store nodes look at a target's terms again every second (terms.ts), so they follow within that.
 * @param opensInMs 0: it is open
 * @returns when it opens, or null
 * @throws {ShopError} `product_not_found`
 */
export async function setOpening({ kind, id }: StockTarget, opensInMs: number): Promise<number | null> {
  const opensAt = opensInMs === 0 ? null : new Date(Date.now() + opensInMs);
  // A run opens the doors of its own rows itself.
  const change = { where: { id, runId: null }, data: { opensAt } };
  const { count } =
    kind === "product" ? await prisma().product.updateMany(change) : await prisma().coupon.updateMany(change);
  if (count === 1) return opensAt?.getTime() ?? null;
  throw new ShopError({ code: "product_not_found", message: `The shop has no ${kind} ${id}.` });
}
