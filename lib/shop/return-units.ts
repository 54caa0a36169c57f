import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { END_WITHOUT_STOCK } from "../stock/release-sql";
import type { GiveBackRequest, HeldOrder } from "../stock/types";

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
  /** A run sells the product, and only its own purchases may change the stock. */
  | { readonly status: "sale_running" };

/**
 * Ends pending orders of one product. The strategy that sells the product now returns the units they had taken, under its lock.
 * @throws {LockError} if a server is unavailable or the outcome is unknown
 */
export async function endOrders(node: StoreNode, ending: Ending): Promise<EndOutcome> {
  const { productId, orders, as, reason, dueBefore } = ending;
  const target = { kind: "product", id: productId } as const;
  const plan = node.plan(target);
  const held = orders.filter(({ stockTaken }) => stockTaken);
  if (held.length > 0 && plan.run) return { status: "sale_running" };
  const { fencing, ttlMs } = plan;
  const trace = node.newTrace();
  const orderIds = await endWithoutStock(ending, trace.opId);
  if (held.length === 0) return { status: "ended", orderIds };
  const waitTimeoutMs = ending.waitTimeoutMs ?? plan.waitTimeoutMs;
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
