import { breakableLocks, breakLock } from "../locks/redis/break-lock";
import { lockDependencies } from "../node/lock-dependencies";
import { describeStrategy } from "../runs/lab-description";
import { resourceOf, type StockTarget } from "../stock/types";
import { ShopError } from "./shop-error";

export interface BrokenLock {
  readonly strategy: string;
  readonly resource: string;
  readonly broken: boolean;
}

/**
 * Deletes a lock that stays when its holder dies, whoever holds it: a holder that lives is then not alone.
 * @throws {ShopError} `lock_expires_by_itself`
 * @throws {LockError} `backend_unavailable`
 * @throws LabError `unknown_strategy`
 */
export async function breakLockOf(order: {
  readonly strategy: string;
  readonly target: StockTarget;
}): Promise<BrokenLock> {
  const { strategy, target } = order;
  const { id } = describeStrategy(strategy);
  const resource = resourceOf(target);
  if (!breakableLocks.includes(id)) {
    const message = `strategy: ${id} leaves no lock behind; only ${breakableLocks.join(", ")} do.`;
    throw new ShopError({ code: "lock_expires_by_itself", message, details: { field: "strategy" } });
  }
  const broken = await breakLock(lockDependencies().redis(), resource, [id]);
  return { strategy: id, resource, broken: broken.length > 0 };
}
