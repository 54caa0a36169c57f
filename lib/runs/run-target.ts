import { prisma } from "../services/postgres";
import type { StockTarget } from "../stock/types";
import type { RunRequest } from "./document";

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

async function resetStock(target: StockTarget, stock: number): Promise<StockTarget | null> {
  const change = { where: { id: target.id }, data: { stock } };
  const { count } =
    target.kind === "product" ? await prisma().product.updateMany(change) : await prisma().coupon.updateMany(change);
  return count === 1 ? target : null;
}
