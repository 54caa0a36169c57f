import type { z } from "zod";
import { currentNode, servesSales } from "../node/current-node";
import type { PurchasePlan } from "../node/store-node";
import { isVisitorId } from "../node/visitor-id";
import { claimRequestSchema, idempotencyKeySchema, reduceStockRequestSchema } from "../shop/api";
import { answerOnce } from "../shop/idempotency";
import { findKeyedOrder } from "../shop/keyed-order";
import { type OrderRequest, placeOrder } from "../shop/place-order";
import { PurchaseFailure } from "../shop/purchase";
import { type TargetTerms, targetTerms } from "../shop/terms";
import type { StockTarget } from "../stock/types";
import { withAdmission } from "./admission";
import { answerKindOf } from "./answer-kind";
import { refuseForeignVisitor } from "./buyer-cookie";
import { HttpError, invalidField, notFound, toHttpError } from "./errors";
import { forwardToNode } from "./forward";
import { type HotHeaders, type HotResponse, refusalAnswer, soldAnswer, unsoldAnswer } from "./hot-answer";

/**
 * The hot routes as one function: `POST /api/products/{id}/reduce-stock` and `POST /api/coupons/{id}/claim`.
 * `server.ts` reaches it before Next, the Next route handlers reach it too; a parity test holds the two together.
 */

export interface HotRequest {
  readonly method: string;
  readonly kind: StockTarget["kind"];
  /** The path's id, unparsed. */
  readonly idText: string;
  readonly contentType: string | null;
  /** Value of `x-run-id`, when the load of a run sent it. */
  readonly runId: string | null;
  /** Value of `x-run-key`, which the opener of a run was given. */
  readonly runKey: string | null;
  /** Value of `idempotency-key`, or null. */
  readonly idempotencyKey: string | null;
  readonly cookie: string | null;
  /** Value of `x-request-id`; absent: nobody needs to find it in two logs. */
  readonly requestId?: string | null;
  /** The whole body, or null when it was longer than MAX_BODY_BYTES. */
  readonly body: string | null;
}

export type { HotResponse } from "./hot-answer";
export const MAX_BODY_BYTES = 1_024;
/** A repeated request waits for the first one this much longer than that one may wait for its lock. */
const LEAST_REPLAY_WAIT_MS = 6_000;
const MAX_ID = 2_147_483_647;
const HOT_PATH = /^\/api\/(?:products\/([^/?]+)\/reduce-stock|coupons\/([^/?]+)\/claim)\/?(?:\?.*)?$/;

/** Bodies of the hot routes. */
export const purchaseBodySchemas = { product: reduceStockRequestSchema, coupon: claimRequestSchema };

/** The target a path names, or null when the path is none of the hot routes. */
export function matchHotPath(path: string): Pick<HotRequest, "kind" | "idText"> | null {
  const match = HOT_PATH.exec(path);
  if (!match) return null;
  return match[1] !== undefined ? { kind: "product", idText: match[1] } : { kind: "coupon", idText: match[2] ?? "" };
}

export async function handleHotRequest(request: HotRequest): Promise<HotResponse> {
  if (!servesSales()) return forwardHot(request);
  const node = currentNode();
  const headers: HotHeaders = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-store-node": node.name,
    "x-lock-strategy": node.activeStrategy,
  };
  try {
    const wish = parse(request);
    const plan = node.plan(wish.target);
    const applicant = { target: wish.target, buyerId: wish.buyerId, runKey: request.runKey };
    return await withAdmission(applicant, async () => {
      const terms = await targetTerms(wish.target, request.runId !== null);
      if (!terms) throw notFound(`${wish.target.kind} ${wish.target.id}`);
      refuseStrayRun(request, plan);
      if (isVisitorId(wish.buyerId)) await refuseForeignVisitor(request.cookie, wish.buyerId);
      const sale = { wish, terms, plan, headers };
      return wish.idempotencyKey === null ? await sell(sale) : await sellOnce(sale, wish.idempotencyKey);
    });
  } catch (error) {
    return refusal(error, headers);
  }
}

interface Sale {
  readonly wish: OrderRequest;
  readonly terms: TargetTerms;
  readonly plan: PurchasePlan;
  readonly headers: HotHeaders;
}

async function sell({ wish, terms, plan, headers }: Sale): Promise<HotResponse> {
  const { outcome, strategyId, stockTaken } = await placeOrder(currentNode(), wish, { terms, plan });
  headers["x-lock-strategy"] = strategyId;
  if (outcome.status !== "sold") return unsoldAnswer(headers, outcome);
  const { target, buyerId, quantity } = wish;
  return soldAnswer(headers, { orderId: outcome.orderId, target, buyerId, quantity, stockTaken });
}

/** The first answer of all requests with this key; docs/decisions/141-one-answer-a-key.md. */
function sellOnce(sale: Sale, key: string): Promise<HotResponse> {
  const { wish, plan, headers } = sale;
  const { target, buyerId: userId, quantity, purchaseToken } = wish;
  const findEarlierAnswer = async () => {
    const order = await findKeyedOrder(target, userId, key);
    if (!order) return null;
    const at = { ...headers, "x-store-node": order.node, "x-lock-strategy": order.strategy };
    return soldAnswer(at, { ...order, target, buyerId: userId });
  };
  const work = async () => {
    const answer = await sell(sale).catch((error: unknown) => refusal(error, headers));
    // If an earlier request with this key created the order, return its response.
    return answer.status === 409 ? ((await findEarlierAnswer()) ?? answer) : answer;
  };
  const route = target.kind === "product" ? `products/${target.id}/reduce-stock` : `coupons/${target.id}/claim`;
  const content = { quantity, purchaseToken };
  const waitMs = plan.waitTimeoutMs + LEAST_REPLAY_WAIT_MS;
  return answerOnce({ userId, route, key, content, waitMs }, { work, findEarlierAnswer, kindOf: answerKindOf });
}

function refusal(error: unknown, headers: HotHeaders): HotResponse {
  if (error instanceof PurchaseFailure) headers["x-lock-strategy"] = error.strategyId;
  return refusalAnswer(headers, toHttpError(error));
}

/** The dashboard sells nothing itself: a page it serves buys at a store node all the same. */
async function forwardHot(request: HotRequest): Promise<HotResponse> {
  const { kind, idText, method, contentType, runId, runKey, idempotencyKey, cookie, requestId, body } = request;
  const action = kind === "product" ? "reduce-stock" : "claim";
  const headers = {
    "content-type": contentType,
    "x-run-id": runId,
    "x-run-key": runKey,
    "idempotency-key": idempotencyKey,
    "x-request-id": requestId ?? null,
    cookie,
  };
  try {
    parse(request);
    return await forwardToNode({ method, path: `/api/${kind}s/${idText}/${action}`, headers, body });
  } catch (error) {
    return refusalAnswer(
      { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
      toHttpError(error),
    );
  }
}

function parse(request: HotRequest): OrderRequest {
  if (request.method !== "POST") {
    const message = `${request.method} is not allowed here; use POST.`;
    throw new HttpError({ status: 405, code: "method_not_allowed", message, headers: { allow: "POST" } });
  }
  if (!/^application\/json\s*(;|$)/i.test(request.contentType ?? "")) {
    const details = { field: "content-type" };
    const message = "content-type: must be application/json";
    throw new HttpError({ status: 415, code: "unsupported_media_type", message, details });
  }
  if (request.body === null) {
    const message = `body: longer than ${MAX_BODY_BYTES} bytes`;
    throw new HttpError({ status: 413, code: "body_too_large", message, details: { field: "body" } });
  }
  const id = parseTargetId(request.idText);
  const idempotencyKey = parseKey(request.idempotencyKey);
  return { target: { kind: request.kind, id }, idempotencyKey, ...parseBody(request.kind, request.body) };
}

/** @throws HttpError 400 that names `id` */
export function parseTargetId(text: string): number {
  const id = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MAX_ID) throw invalidField("id", "must be a whole number of 1 or more");
  return id;
}

function parseKey(text: string | null): string | null {
  if (text === null) return null;
  const result = idempotencyKeySchema.safeParse(text);
  if (result.success) return text;
  throw invalidField("idempotency-key", result.error.issues[0]?.message ?? "is not valid");
}

function parseBody(
  kind: StockTarget["kind"],
  text: string,
): Pick<OrderRequest, "buyerId" | "quantity" | "purchaseToken"> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidField("body", "is not JSON");
  }
  const result = purchaseBodySchemas[kind].safeParse(json);
  if (!result.success) throw fromIssues(result.error.issues);
  const body: { userId: string; quantity?: number; purchaseToken?: string | undefined } = result.data;
  return { buyerId: body.userId, quantity: body.quantity ?? 1, purchaseToken: body.purchaseToken ?? null };
}

/** The first thing that is wrong, with its field named. */
export function fromIssues(issues: readonly z.core.$ZodIssue[]): HttpError {
  const issue = issues[0];
  if (issue?.code === "unrecognized_keys")
    return invalidField(issue.keys[0] ?? "body", "is not a field of this request");
  return invalidField(issue?.path.join(".") || "body", issue?.message ?? "is not valid");
}

/** A load generator's straggler must not count for another run, nor for the shop. */
function refuseStrayRun({ runId }: HotRequest, plan: PurchasePlan): void {
  if (runId === null || plan.run?.assignment.runId === runId) return;
  throw new HttpError({ status: 409, code: "run_closed", message: `Run ${runId} is not open on this node.` });
}
