import type { StoreNode } from "../node/store-node";
import { postgresPool } from "../services/postgres";
import { END_WITHOUT_STOCK } from "../stock/release-sql";
import type { GiveBackRequest, HeldOrder } from "../stock/types";

/** A pending order, as far as ending it needs to know it. */
export interface PendingOrder extends HeldOrder {
  readonly productId: number;
  readonly stockTaken: boolean;
}

export interface Ending {
  readonly productId: number;
  readonly orders: readonly PendingOrder[];
  readonly as: GiveBackRequest["as"];
  readonly reason: string | null;
  /** Only deadlines up to then; null: any. */
  readonly dueBefore: Date | null;
  readonly waitTimeoutMs?: number;
}

export type EndOutcome =
  | { readonly status: "ended"; readonly orderIds: readonly string[] }
  | { readonly status: "contended" }
  /** A run sells the product: its books must not move but by its own purchases. */
  | { readonly status: "sale_running" };

/**
 * Ends pending orders of one product; units they had taken go back under the guard of the strategy that sells the product now.
 * @throws {LockError} when a server is lost or the outcome is not known
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
