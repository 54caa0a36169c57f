import type { z } from "zod";
import type { productAnswerSchema } from "@/lib/shop/api";

/** What `GET /api/products/{id}` answers. */
export type ProductView = z.infer<typeof productAnswerSchema>;
export type ProductOrders = ProductView["orders"];

/** Where a product's units are, for a bar of three parts. */
export interface UnitShares {
  readonly paid: number;
  readonly blocked: number;
  readonly left: number;
  readonly total: number;
}

export function unitShares(stock: number, { paidUnits, pendingUnits }: ProductOrders): UnitShares {
  const left = Math.max(0, stock);
  return { paid: paidUnits, blocked: pendingUnits, left, total: paidUnits + pendingUnits + left };
}

export function percentOf(part: number, total: number): number {
  return total === 0 ? 0 : Math.round((part * 10_000) / total) / 100;
}
