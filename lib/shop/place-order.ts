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
  /** Whether the order took its units, or will when it is paid. */
  readonly stockTaken: boolean;
}

/**
 * Places an order on the target's terms. Where they say that the payment takes the stock, it is written without taking any; a
 * run takes it with the order all the same, since that is what it measures.
 * @throws {ShopError} what the terms refuse before any lock is touched
 * @throws {PurchaseFailure} when a server was lost or the outcome is not known
 */
export async function placeOrder(
  node: StoreNode,
  request: OrderRequest,
  { terms, plan }: OrderConditions,
): Promise<PlacedOrder> {
  const { target, buyerId, quantity, idempotencyKey } = request;
  refuseEarly(plan, terms);
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

/** A run opens the doors itself. */
function refuseEarly(plan: PurchasePlan, { opensAtEpochMs }: TargetTerms): void {
  const leftMs = plan.run === null && opensAtEpochMs !== null ? opensAtEpochMs - Date.now() : 0;
  if (leftMs <= 0) return;
  throw new ShopError({
    code: "not_open",
    message: "The sale has not begun.",
    details: { opensAtEpochMs: Math.round(opensAtEpochMs ?? 0) },
    retryAfterSeconds: Math.ceil(leftMs / 1_000),
  });
}

/** Absent for the load of a run on a target without terms: its statement writes an order and nothing else. */
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

interface Placing {
  readonly request: OrderRequest;
  readonly node: string;
  readonly opId: string;
  readonly order: OrderTerms;
  readonly plan: PurchasePlan;
}

/** The order and the buyer's allowance, and nothing off the stock. */
async function placeWithoutStock({ request, node, opId, order, plan }: Placing): Promise<StockOutcome> {
  if (order.kind !== "shop") throw new TypeError("only a new order can be placed");
  const { target, buyerId, quantity } = request;
  const values = [target.id, buyerId, quantity, opId, null, node, plan.strategy.id];
  const extras = [order.idempotencyKey, order.paymentWindowMs, order.purchaseTokenId];
  const failed = (error: Error, isDefinite: boolean) => postgresFailed(target, error, isDefinite);
  const client = await postgresPool()
    .connect()
    .catch((error: Error) => {
      throw failed(error, true);
    });
  let broken: Error | undefined;
  try {
    const statement = { name: "place_without_stock", text: PLACE_WITHOUT_STOCK, values: [...values, ...extras] };
    const { rows } = await client.query<{ order_id: string }>(statement);
    return rows[0] ? { status: "sold", orderId: rows[0].order_id } : { status: "sold_out" };
  } catch (error) {
    const refusal = rowRejectionOf(error);
    if (refusal) return refusal;
    if (!isRefusal(error)) broken = error as Error;
    throw failed(error as Error, broken === undefined);
  } finally {
    client.release(broken);
  }
}

/** A statement that was refused, or never sent, wrote nothing; a lost reply leaves that open. */
function postgresFailed(target: StockTarget, error: Error, isDefinite: boolean): LockError {
  return new LockError({
    code: isDefinite ? "backend_unavailable" : "outcome_unknown",
    strategyId: "shop",
    resource: resourceOf(target),
    message: `PostgreSQL failed at the order: ${error.message}`,
    isDefinite,
    cause: error,
  });
}
