import type { Pool } from "pg";
import { prisma } from "../services/postgres";
import { foldBuckets } from "../stock/buckets";
import type { StockTarget } from "../stock/types";
import type { RunRequest } from "./run-request";

/** The client or a transaction of it. */
export type Database = Pick<ReturnType<typeof prisma>, "product" | "coupon" | "stockBucket" | "$executeRaw">;

/**
 * The row that a run sells. Without an id the run creates a row, so that no two runs share a row, a lock or a buyer's
 * unique index. With an id, `resetStock` sets the row's stock later, when no purchase of it is in flight.
 * @returns null if the requested row does not exist
 */
export async function findOrCreateTarget(
  database: Database,
  runId: string,
  request: RunRequest,
): Promise<StockTarget | null> {
  const { target, stock } = request;
  if (target.id !== undefined) return findTarget(database, { kind: target.kind, id: target.id });
  if (target.kind === "coupon") {
    const data = {
      code: `RUN-${runId}`.toUpperCase(),
      name: `Coupon of run ${runId}`,
      discountPercent: 50,
      stock,
      runId,
    };
    return { kind: "coupon", id: (await database.coupon.create({ data, select: { id: true } })).id };
  }
  const data = { slug: `run-${runId}`, name: `Product of run ${runId}`, priceCents: 1_999, stock, runId };
  return { kind: "product", id: (await database.product.create({ data, select: { id: true } })).id };
}

async function findTarget(database: Database, target: StockTarget): Promise<StockTarget | null> {
  const where = { where: { id: target.id } };
  const count = target.kind === "product" ? await database.product.count(where) : await database.coupon.count(where);
  return count === 1 ? target : null;
}

/** Units of a product that one buyer may have; null without a limit, and for coupons, where the limit is always one. */
export async function limitPerUserOf(database: Database, { kind, id }: StockTarget): Promise<number | null> {
  if (kind === "coupon") return null;
  return (await database.product.findUnique({ where: { id }, select: { limitPerUser: true } }))?.limitPerUser ?? null;
}

/** Returns units that a strategy split off the target's row and did not sell, so that the row holds the whole stock again. */
export async function returnUnsold(pool: Pool, target: StockTarget): Promise<void> {
  await foldBuckets(pool, target);
}

/**
 * Sets the stock of a row that existed before the run, if the run is still being prepared: another process may have taken over.
 * @returns false if it is not, and then changes nothing
 */
export async function resetStock(runId: string, target: StockTarget, stock: number): Promise<boolean> {
  return prisma().$transaction(async (database) => {
    // Changes nothing, but locks the claim until the stock is set.
    const where = { id: runId, status: "running", phase: "preparing" };
    const { count } = await database.run.updateMany({ where, data: { phase: "preparing" } });
    if (count === 0) return false;
    await setStock(database, target, stock);
    return true;
  });
}

/** Sets what a run may sell of a row. Call it while no purchase of the row is in flight. */
export async function setStock(database: Database, { kind, id }: StockTarget, stock: number): Promise<void> {
  // The last fencing token of another strategy's lock could reject this one's holders.
  const change = { where: { id }, data: { stock, fence: 0n } };
  // A run that was never ended may have left units in buckets, which would count for this run.
  await database.stockBucket.deleteMany({ where: { kind, targetId: id } });
  if (kind === "coupon") await database.coupon.updateMany(change);
  else {
    await database.product.updateMany(change);
    await resetBuyerLimits(database, id);
  }
}

/**
 * Load generators reuse buyer ids, so purchases in an earlier run must not count towards a buyer's limit in this one. Orders
 * placed in the shop still count, because their release subtracts them.
 */
async function resetBuyerLimits(database: Database, productId: number): Promise<void> {
  await database.$executeRaw`UPDATE buyer_allowances a SET units = shop.units
     FROM (SELECT user_id,
         coalesce(sum(quantity) FILTER (WHERE run_id IS NULL AND status IN ('pending', 'paid')), 0)::int AS units
       FROM orders WHERE product_id = ${productId}::int GROUP BY user_id HAVING bool_or(run_id IS NOT NULL)) shop
     WHERE a.product_id = ${productId}::int AND a.user_id = shop.user_id AND a.units > shop.units`;
}
