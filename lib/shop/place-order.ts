import { LockError } from "../locks/errors";
import { isRefusal } from "../locks/postgres/sql-state";
import type { PurchasePlan, StoreNode } from "../node/store-node";
import { env } from "../services/current-env";
import { postgresPool } from "../services/postgres";
import { PLACE_WITHOUT_STOCK } from "../stock/order-sql";
import { rowRejectionOf } from "../stock/row-rejection";
import { type OrderTerms, resourceOf, type StockOutcome, type StockTarget } from "../stock/types";
import { type PurchaseResult, purchase } from "./purchase";
import { checkPurchaseToken } from "./purchase-tokens";
import { ShopError } from "./shop-error";
import type { TargetTerms } from "./terms";

export interface OrderRequest {
  readonly target: StockTarget;
  readonly buyerId: string;
  readonly quantity: number;
  readonly purchaseToken: string | null;
  readonly idempotencyKey: string | null;
}

/** The target's terms, and the node's plan for this purchase. */
export interface OrderConditions {
  readonly terms: TargetTerms;
  readonly plan: PurchasePlan;
}

export interface PlacedOrder extends PurchaseResult {
  /** False: the order reserves no stock until it is paid. */
  readonly stockTaken: boolean;
}

/**
 * Places an order on the target's terms. If the target takes its stock at payment, the order reserves none, except in a run:
 * a run measures taking the stock.
 * @throws {ShopError} `not_open`, `purchase_token_...`: the terms reject the request before it touches a lock
 * @throws {PurchaseFailure} if a server is unavailable or the outcome is unknown
 */
export async function placeOrder(
  node: StoreNode,
  request: OrderRequest,
  { terms, plan }: OrderConditions,
): Promise<PlacedOrder> {
  const { target, buyerId, quantity, idempotencyKey } = request;
  rejectBeforeOpening(plan, terms);
  if (terms.requiresPurchaseToken) await checkPurchaseToken({ ...request, productId: target.id });
  const order = orderTerms(request, { terms, plan });
  if (terms.stockOn === "payment" && plan.run === null && order) {
    const outcome = await placeWithoutStock({ request, node: node.name, opId: node.newTrace().opId, order, plan });
    return { outcome, strategyId: plan.strategy.id, runId: null, stockTaken: false };
  }
  const limitPerBuyer = terms.limitPerBuyer ?? undefined;
  const key = idempotencyKey ?? undefined;
  const input = { target, buyerId, quantity, order, limitPerBuyer, idempotencyKey: key };
  return { ...(await purchase(node, plan, input)), stockTaken: true };
}

/** Does not apply inside a run, which decides itself when its load starts. */
function rejectBeforeOpening(plan: PurchasePlan, { opensAtEpochMs }: TargetTerms): void {
  const leftMs = plan.run === null && opensAtEpochMs !== null ? opensAtEpochMs - Date.now() : 0;
  if (leftMs <= 0) return;
  throw new ShopError({
    code: "not_open",
    message: "The sale has not started yet. No stock was reserved.",
    details: { opensAtEpochMs: Math.round(opensAtEpochMs ?? 0) },
    retryAfterSeconds: Math.ceil(leftMs / 1_000),
  });
}

/** Undefined if the order needs none, as in a run on a target without terms: its statement then writes only an order. */
function orderTerms(
  { target, idempotencyKey, purchaseToken }: OrderRequest,
  { terms, plan }: OrderConditions,
): OrderTerms | undefined {
  const isRun = plan.run !== null;
  const isPlain = target.kind === "coupon" || (isRun && terms.limitPerBuyer === null && !terms.requiresPurchaseToken);
  if (isPlain && idempotencyKey === null) return undefined;
  return {
    kind: "shop",
    idempotencyKey,
    paymentWindowMs: isRun ? null : (terms.paymentWindowMs ?? env().PAYMENT_WINDOW_MS),
    purchaseTokenId: terms.requiresPurchaseToken ? purchaseToken : null,
  };
}

interface OrderWithoutStock {
  readonly request: OrderRequest;
  readonly node: string;
  readonly opId: string;
  readonly order: OrderTerms;
  readonly plan: PurchasePlan;
}

/** Writes the order and counts it for the buyer's limit, and takes no stock. */
async function placeWithoutStock({ request, node, opId, order, plan }: OrderWithoutStock): Promise<StockOutcome> {
  if (order.kind !== "shop") throw new TypeError(`expected the terms of a new order, found "${order.kind}"`);
  const { target, buyerId, quantity } = request;
  const values = [target.id, buyerId, quantity, opId, null, node, plan.strategy.id];
  const extras = [order.idempotencyKey, order.paymentWindowMs, order.purchaseTokenId];
  const client = await postgresPool()
    .connect()
    .catch((error: Error) => {
      throw postgresFailed(target, error, true);
    });
  let lostConnection: Error | undefined;
  try {
    const statement = { name: "place_without_stock", text: PLACE_WITHOUT_STOCK, values: [...values, ...extras] };
    const { rows } = await client.query<{ order_id: string }>(statement);
    return rows[0] ? { status: "sold", orderId: rows[0].order_id } : { status: "sold_out" };
  } catch (error) {
    const rejection = rowRejectionOf(error);
    if (rejection) return rejection;
    if (!isRefusal(error)) lostConnection = error as Error;
    throw postgresFailed(target, error as Error, lostConnection === undefined);
  } finally {
    client.release(lostConnection);
  }
}

/** `isDefinite`: PostgreSQL rejected the statement or never received it. If the reply was lost, the order may exist. */
function postgresFailed(target: StockTarget, error: Error, isDefinite: boolean): LockError {
  return new LockError({
    code: isDefinite ? "backend_unavailable" : "outcome_unknown",
    strategyId: "shop",
    resource: resourceOf(target),
    message: `PostgreSQL could not write the order: ${error.message}`,
    isDefinite,
    cause: error,
  });
}
