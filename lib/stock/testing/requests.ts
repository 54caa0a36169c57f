import assert from "node:assert/strict";
import { isLockError, type LockErrorCode } from "../../locks/errors";
import type { GiveBackRequest, StockRequest } from "../types";

export const PRODUCT = { kind: "product", id: 7 } as const;
export const COUPON = { kind: "coupon", id: 8 } as const;

/** A purchase of one unit that works for no time and tries once. */
export function purchaseOf(overrides: Partial<StockRequest> = {}): StockRequest {
  return {
    target: PRODUCT,
    quantity: 1,
    buyerId: "buyer-1",
    runId: null,
    holdMs: 0,
    ttlMs: 1_000,
    waitTimeoutMs: 0,
    trace: { opId: "op-1", invokedNs: 0n },
    ...overrides,
  };
}

/** The order parameters of a purchase by `purchaseOf` on the node `node-1`. */
export function orderValuesOf(strategyId: string): readonly unknown[] {
  return ["buyer-1", 1, "op-1", null, "node-1", strategyId];
}

/** Returns the units of two orders: 1 unit of order 11 and 2 units of order 12. */
export function giveBackOf(overrides: Partial<GiveBackRequest> = {}): GiveBackRequest {
  return {
    target: PRODUCT,
    orders: [
      { orderId: "11", buyerId: "buyer-1", quantity: 1 },
      { orderId: "12", buyerId: "buyer-2", quantity: 2 },
    ],
    as: "expired",
    reason: null,
    dueBefore: null,
    ttlMs: 1_000,
    waitTimeoutMs: 0,
    trace: { opId: "end-1", invokedNs: 0n },
    ...overrides,
  };
}

/** Asserts that the work fails with a LockError of this code, and whether the error is definite. */
export async function assertLockError(
  work: Promise<unknown>,
  code: LockErrorCode,
  { isDefinite }: { readonly isDefinite: boolean },
): Promise<void> {
  const [result] = await Promise.allSettled([work]);
  assert.ok(result.status === "rejected", `expected the error ${code}, found ${JSON.stringify(result)}`);
  assert.ok(isLockError(result.reason), `expected a LockError, found ${String(result.reason)}`);
  assert.deepEqual([result.reason.code, result.reason.isDefinite], [code, isDefinite], result.reason.message);
}
