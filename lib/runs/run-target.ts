import { postgresPool, prisma } from "../services/postgres";
import { foldBuckets } from "../stock/buckets";
import type { StockTarget } from "../stock/types";
import type { RunRequest } from "./run-request";

/**
 * The row that a run sells. Without an id the run creates a row, so that no two runs share a row, a lock or a buyer's
 * unique index. With an id, the row's stock is set for the run.
 * @returns null if the requested row does not exist
 */
export async function prepareTarget(runId: string, request: RunRequest): Promise<StockTarget | null> {
  const { target, stock } = request;
  if (target.id !== undefined) return resetStock({ kind: target.kind, id: target.id }, stock);
  if (target.kind === "coupon") {
    const data = {
      code: `RUN-${runId}`.toUpperCase(),
      name: `Coupon of run ${runId}`,
      discountPercent: 50,
      stock,
      runId,
    };
    return { kind: "coupon", id: (await prisma().coupon.create({ data, select: { id: true } })).id };
  }
  const data = { slug: `run-${runId}`, name: `Product of run ${runId}`, priceCents: 1_999, stock, runId };
  return { kind: "product", id: (await prisma().product.create({ data, select: { id: true } })).id };
}

/** Units of a product that one buyer may have; null without a limit, and for coupons, where the limit is always one. */
export async function limitPerUserOf({ kind, id }: StockTarget): Promise<number | null> {
  if (kind === "coupon") return null;
  return (await prisma().product.findUnique({ where: { id }, select: { limitPerUser: true } }))?.limitPerUser ?? null;
}

/** Returns units that a strategy split off the target's row and did not sell, so that the row holds the whole stock again. */
export async function returnUnsold(target: StockTarget): Promise<void> {
  await foldBuckets(postgresPool(), target);
}

async function resetStock(target: StockTarget, stock: number): Promise<StockTarget | null> {
  const { kind, id } = target;
  // The last fencing token of another strategy's lock could reject this one's holders.
  const change = { where: { id }, data: { stock, fence: 0n } };
  // A run that was never ended may have left units in buckets, which would count for this run.
  const [, { count }] = await prisma().$transaction([
    prisma().stockBucket.deleteMany({ where: { kind, targetId: id } }),
    kind === "product" ? prisma().product.updateMany(change) : prisma().coupon.updateMany(change),
  ]);
  if (kind === "product") await resetBuyerLimits(id);
  return count === 1 ? target : null;
}

/**
 * Load generators reuse buyer ids, so purchases in an earlier run must not count towards a buyer's limit in this one. Orders
 * placed in the shop still count, because their release subtracts them.
 */
async function resetBuyerLimits(productId: number): Promise<void> {
  await postgresPool().query(
    `UPDATE buyer_allowances a SET units = shop.units
     FROM (SELECT user_id,
         coalesce(sum(quantity) FILTER (WHERE run_id IS NULL AND status IN ('pending', 'paid')), 0)::int AS units
       FROM orders WHERE product_id = $1::int GROUP BY user_id HAVING bool_or(run_id IS NOT NULL)) shop
     WHERE a.product_id = $1::int AND a.user_id = shop.user_id AND a.units > shop.units`,
    [productId],
  );
}
