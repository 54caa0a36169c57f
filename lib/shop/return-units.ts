import type { PurchasePlan, StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { END_WITHOUT_STOCK } from "../stock/release-sql";
import type { GiveBackRequest, HeldOrder } from "../stock/types";
import { runHolding } from "./run-holding-target";

/** What `endOrders` needs of a pending order. */
export interface PendingOrder extends HeldOrder {
  readonly productId: number;
  readonly stockTaken: boolean;
}

export interface Ending {
  readonly productId: number;
  readonly orders: readonly PendingOrder[];
  readonly as: GiveBackRequest["as"];
  readonly reason: string | null;
  /** Ends only orders whose payment deadline is not later; null: all. */
  readonly dueBefore: Date | null;
  readonly waitTimeoutMs?: number;
}

export type EndOutcome =
  | { readonly status: "ended"; readonly orderIds: readonly string[] }
  | { readonly status: "contended" }
  /** A run sells the product or its stock is being counted, and only the run's own purchases may change the stock. */
  | { readonly status: "sale_running" };

/**
 * Ends pending orders of one product. The strategy that sells the product now returns the units they had taken, under its lock.
 * @throws {LockError} if a server is unavailable or the outcome is unknown
 */
export async function endOrders(node: StoreNode, ending: Ending): Promise<EndOutcome> {
  const target = { kind: "product", id: ending.productId } as const;
  const held = ending.orders.filter(({ stockTaken }) => stockTaken);
  if (held.length === 0) return { status: "ended", orderIds: await endWithoutStock(ending, node.newTrace().opId) };
  await runHolding(node, target);
  const plan = node.plan(target);
  if (plan.run !== null || !node.isCurrent(plan)) return { status: "sale_running" };
  node.enterShopWork(plan);
  try {
    return await giveBack(node, plan, { ...ending, held });
  } finally {
    node.leaveShopWork(plan);
  }
}

async function giveBack(
  node: StoreNode,
  plan: PurchasePlan,
  ending: Ending & { readonly held: readonly PendingOrder[] },
): Promise<EndOutcome> {
  const { productId, held, as, reason, dueBefore, waitTimeoutMs = plan.waitTimeoutMs } = ending;
  const { fencing, ttlMs } = plan;
  const trace = node.newTrace();
  const orderIds = await endWithoutStock(ending, trace.opId);
  const target = { kind: "product", id: productId } as const;
  const limits = { ttlMs, waitTimeoutMs, fencing, trace };
  const outcome = await plan.strategy.giveBack({ target, orders: held, as, reason, dueBefore, ...limits });
  if (outcome.status === "contended") return { status: "contended" };
  return { status: "ended", orderIds: [...orderIds, ...outcome.orders.map(({ orderId }) => orderId)] };
}

async function endWithoutStock({ orders, as, reason, dueBefore }: Ending, opId: string): Promise<string[]> {
  const ids = orders.filter(({ stockTaken }) => !stockTaken).map(({ orderId }) => orderId);
  if (ids.length === 0) return [];
  const { rows } = await postgresPool().query<{ order_id: string }>(END_WITHOUT_STOCK, [
    ids,
    as,
    reason,
    dueBefore,
    opId,
  ]);
  return rows.map(({ order_id }) => order_id);
}
