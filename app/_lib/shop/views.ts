import type { z } from "zod";
import type { productAnswerSchema } from "@/lib/shop/api";

/** Response body of `GET /api/products/{id}`. */
export type ProductView = z.infer<typeof productAnswerSchema>;
export type ProductOrders = ProductView["orders"];

/** Units of a product by state, for a bar of three parts. */
export interface UnitShares {
  readonly paid: number;
  readonly reserved: number;
  readonly left: number;
  readonly total: number;
}

export function unitShares(stock: number, { paidUnits, pendingUnits }: ProductOrders): UnitShares {
  const left = Math.max(0, stock);
  return { paid: paidUnits, reserved: pendingUnits, left, total: paidUnits + pendingUnits + left };
}

export function percentOf(part: number, total: number): number {
  return total === 0 ? 0 : Math.round((part * 10_000) / total) / 100;
}
