import type { z } from "zod";
import { currentNode } from "../node/current-node";
import type { PurchasePlan } from "../node/store-node";
import { isVisitorId } from "../node/visitor-id";
import type { claimRequestSchema, reduceStockRequestSchema } from "../shop/api";
import { findKeyedOrder } from "../shop/keyed-order";
import { type OrderRequest, placeOrder } from "../shop/place-order";
import { PurchaseFailure } from "../shop/purchase";
import { type TargetTerms, targetTerms } from "../shop/terms";
import type { StockTarget } from "../stock/types";
import { enterPurchase, leavePurchase } from "./admission";
import { errorAnswer, type WholeAnswer } from "./answer";
import { requireOwnVisitorId } from "./buyer-cookie";
import { isConflict } from "./error-table";
import { HttpError, notFound, toHttpError } from "./errors";
import { answerKeyed } from "./keyed-answer";
import { type ServedBy, servedByHeaders, soldAnswer, unsoldAnswer } from "./purchase-answers";
import { headerOf, type RawRequest } from "./raw-request";
import type { ApiRequest } from "./route";

/** The hot routes: `POST /api/products/{id}/reduce-stock` and `POST /api/coupons/{id}/claim`. */

/** A repeated request waits this much longer than the first request may wait for its lock. */
const EXTRA_REPLAY_WAIT_MS = 6_000;

type PurchaseRequest<Body extends z.ZodType> = ApiRequest<{ readonly id: number }, unknown, z.output<Body>>;

export function reduceStock({ params, body, raw }: PurchaseRequest<typeof reduceStockRequestSchema>) {
  const { userId: buyerId, quantity, purchaseToken = null } = body;
  const target = { kind: "product", id: params.id } as const;
  return sell({ target, buyerId, quantity, purchaseToken, idempotencyKey: keyOf(raw) }, raw);
}

export function claimCoupon({ params, body, raw }: PurchaseRequest<typeof claimRequestSchema>) {
  const target = { kind: "coupon", id: params.id } as const;
  return sell({ target, buyerId: body.userId, quantity: 1, purchaseToken: null, idempotencyKey: keyOf(raw) }, raw);
}

/** The hot routes' errors name the node, and the strategy that was active. */
export function hotErrorHeaders(): Record<string, string> {
  const { name, activeStrategy } = currentNode();
  return servedByHeaders({ node: name, strategy: activeStrategy });
}

function keyOf({ headers }: RawRequest): string | null {
  return headerOf(headers, "idempotency-key");
}

interface Sale {
  readonly order: OrderRequest;
  readonly terms: TargetTerms;
  readonly plan: PurchasePlan;
  readonly raw: RawRequest;
}

/** The one place that resolves the purchase's plan; every later step takes it as an argument. */
async function sell(order: OrderRequest, raw: RawRequest): Promise<WholeAnswer> {
  const { target, buyerId } = order;
  const plan = currentNode().plan(target);
  enterPurchase(plan, { buyerId, runKey: headerOf(raw.headers, "x-run-key") });
  try {
    const runId = headerOf(raw.headers, "x-run-id");
    const terms = await targetTerms(target, runId !== null);
    if (!terms) throw notFound(`${target.kind} ${target.id}`);
    if (runId !== null && plan.run?.assignment.runId !== runId) throw runClosed(runId);
    if (isVisitorId(buyerId)) await requireOwnVisitorId(raw.headers.cookie ?? null, buyerId);
    const sale = { order, terms, plan, raw };
    return await (order.idempotencyKey === null ? sellNow(sale) : sellOnce(sale, order.idempotencyKey));
  } finally {
    leavePurchase(plan);
  }
}

/** A late request of a run's load must not count for another run, nor for the shop. */
function runClosed(runId: string): HttpError {
  return new HttpError({
    code: "run_closed",
    message: `Run ${runId} is not open on this node. No stock was reserved.`,
  });
}

async function sellNow({ order, terms, plan, raw }: Sale): Promise<WholeAnswer> {
  const node = currentNode();
  try {
    const { outcome, strategyId, stockTaken } = await placeOrder(node, order, { terms, plan });
    const servedBy: ServedBy = { node: node.name, strategy: strategyId };
    if (outcome.status !== "sold") return unsoldAnswer(servedBy, outcome);
    const { target, buyerId, quantity } = order;
    return soldAnswer(servedBy, { orderId: outcome.orderId, target, buyerId, quantity, stockTaken });
  } catch (error) {
    const strategy = error instanceof PurchaseFailure ? error.strategyId : node.activeStrategy;
    const headers = servedByHeaders({ node: node.name, strategy });
    return errorAnswer(toHttpError(error, headerOf(raw.headers, "x-request-id")), headers);
  }
}

/** All requests with the same key get the first one's answer. */
function sellOnce(sale: Sale, key: string): Promise<WholeAnswer> {
  const { target, buyerId, quantity, purchaseToken } = sale.order;
  const findEarlierAnswer = () => findSold(sale.order, key);
  const work = async () => {
    const answer = await sellNow(sale);
    // If an earlier request with this key created the order, return its response.
    return isConflict(answer.status) ? ((await findEarlierAnswer()) ?? answer) : answer;
  };
  const waitMs = sale.plan.waitTimeoutMs + EXTRA_REPLAY_WAIT_MS;
  const keyed = { userId: buyerId, route: routeOf(target), key, content: { quantity, purchaseToken }, waitMs };
  return answerKeyed(keyed, { work, findEarlierAnswer });
}

async function findSold({ target, buyerId }: OrderRequest, key: string): Promise<WholeAnswer | null> {
  const order = await findKeyedOrder(target, buyerId, key);
  return order && soldAnswer(order, { ...order, target, buyerId });
}

function routeOf({ kind, id }: StockTarget): string {
  return kind === "product" ? `products/${id}/reduce-stock` : `coupons/${id}/claim`;
}
