import { breakableLocks, breakLock } from "../locks/redis/break-lock";
import { lockDependencies } from "../node/lock-dependencies";
import { resourceOf, type StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

export interface BrokenLock {
  readonly strategy: string;
  readonly resource: string;
  readonly broken: boolean;
}

export interface BreakLockRequest {
  /** Id of an existing strategy. */
  readonly strategy: string;
  readonly target: StockTarget;
}

/**
 * Deletes a lock that has no expiry. If its holder is still alive, the resource then has two holders.
 * @throws {ShopError} `lock_expires_by_itself`
 * @throws {LockError} `backend_unavailable`
 */
export async function breakLockOf({ strategy, target }: BreakLockRequest): Promise<BrokenLock> {
  const resource = resourceOf(target);
  if (!breakableLocks.includes(strategy)) {
    const message = `strategy: ${strategy} leaves no lock behind when its holder dies; only ${breakableLocks.join(", ")} do.`;
    throw new ShopError({ code: "lock_expires_by_itself", message, details: { field: "strategy" } });
  }
  const broken = await breakLock(lockDependencies().redis(), resource, [strategy]);
  return { strategy, resource, broken: broken.length > 0 };
}
