import { postgresPool, prisma } from "../services/postgres";
import { foldBuckets } from "../stock/buckets";
import type { StockTarget } from "../stock/types";
import type { RunRequest } from "./run-request";

/**
 * The row a run sells. Without an id the run makes its own, so that no two runs share a row, a lock or a buyer's
 * unique index; with one, that row's stock is set for the run.
 * @returns null when the row asked for does not exist
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

/** Units one buyer may have of a product that limits them; null for the others, and for coupons, which are one each. */
export async function limitPerUserOf({ kind, id }: StockTarget): Promise<number | null> {
  if (kind === "coupon") return null;
  return (await prisma().product.findUnique({ where: { id }, select: { limitPerUser: true } }))?.limitPerUser ?? null;
}

/** Units that a run took out of the target's row and did not sell go back: from now on the row is the whole stock again. */
export async function returnUnsold(target: StockTarget): Promise<void> {
  await foldBuckets(postgresPool(), target);
}

async function resetStock(target: StockTarget, stock: number): Promise<StockTarget | null> {
  const { kind, id } = target;
  // Tokens of another strategy's lock are no measure for this one's.
  const change = { where: { id }, data: { stock, fence: 0n } };
  // A run that was never ended may have left units in buckets; they would count for this one.
  const [, { count }] = await prisma().$transaction([
    prisma().stockBucket.deleteMany({ where: { kind, targetId: id } }),
    kind === "product" ? prisma().product.updateMany(change) : prisma().coupon.updateMany(change),
  ]);
  if (kind === "product") await forgetEarlierRuns(id);
  return count === 1 ? target : null;
}

/** Load generators send the same buyers again: what an earlier run sold them must not count against their limit in this one. */
async function forgetEarlierRuns(productId: number): Promise<void> {
  await postgresPool().query(
    `DELETE FROM buyer_allowances a WHERE a.product_id = $1::int AND EXISTS (
       SELECT 1 FROM orders o WHERE o.product_id = a.product_id AND o.user_id = a.user_id AND o.run_id IS NOT NULL)`,
    [productId],
  );
}
