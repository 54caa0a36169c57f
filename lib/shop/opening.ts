import { prisma } from "../services/postgres";
import type { StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

/**
 * Sets when a sale opens. Store nodes cache a target's terms for one second (terms.ts), so they follow within a second.
 * @param opensInMs 0 opens it at once
 * @returns when it opens; null if it is open
 * @throws {ShopError} `product_not_found`
 */
export async function setOpening({ kind, id }: StockTarget, opensInMs: number): Promise<number | null> {
  const opensAt = opensInMs === 0 ? null : new Date(Date.now() + opensInMs);
  // Rows that belong to a run have no opening time: the run decides when its load starts.
  const change = { where: { id, runId: null }, data: { opensAt } };
  const { count } =
    kind === "product" ? await prisma().product.updateMany(change) : await prisma().coupon.updateMany(change);
  if (count === 1) return opensAt?.getTime() ?? null;
  throw new ShopError({ code: "product_not_found", message: `The shop has no ${kind} ${id}.` });
}
