import type { z } from "zod";
import { currentNode } from "../node/current-node";
import { idempotencyKeySchema, type ShopOrder } from "../shop/api";
import { type Answer, answerOnce } from "../shop/idempotency";
import { findOrder } from "../shop/queries";
import { refuseCrossSite } from "./admin-guard";
import { admitOrderAction } from "./admission";
import { answerKindOf } from "./answer-kind";
import { apiRoute, originOf, readJson } from "./api-route";
import { requireVisitor } from "./buyer-cookie";
import { errorBody, invalidField, toHttpError } from "./errors";
import { atNode } from "./node-route";

/** Paying and cancelling: what a visitor does with an order of his. */

export interface OrderAction<Body> {
  /** Last part of the path. */
  readonly name: "pay" | "cancel";
  readonly bodySchema: z.ZodType<Body>;
  readonly act: (order: { readonly orderId: string; readonly buyerId: string }, body: Body) => Promise<ShopOrder>;
  /** Whether the order is as a first request with the same key would have left it. */
  readonly isDone: (order: ShopOrder) => boolean;
}

/** Longer than any payment waits for its lock, and than the claim of a process that died. */
const REPLAY_WAIT_MS = 15_000;

export function orderAction<Body>(
  request: Request,
  idText: Promise<{ readonly id: string }>,
  action: OrderAction<Body>,
): Promise<Response> {
  return apiRoute(async () => {
    // Here and not at the node it is sent on to, which does not learn where it came from.
    refuseCrossSite(originOf(request));
    return atNode(request, async () => {
      const orderId = parseOrderId((await idText).id);
      const buyerId = await requireVisitor(request.headers.get("cookie"));
      const body = await readJson(request, action.bodySchema);
      const key = parseKey(request.headers.get("idempotency-key"));
      admitOrderAction(buyerId);
      const order = { orderId, buyerId };
      if (key === null) return toResponse(orderAnswer(await action.act(order, body)));
      const findEarlierAnswer = async () => {
        const found = await findOrder(orderId, buyerId);
        return found && action.isDone(found) ? orderAnswer(found) : null;
      };
      const work = () => action.act(order, body).then(orderAnswer, failureAnswer);
      const keyed = { userId: buyerId, route: `orders/${orderId}/${action.name}`, key, content: body };
      return toResponse(
        await answerOnce({ ...keyed, waitMs: REPLAY_WAIT_MS }, { work, findEarlierAnswer, kindOf: answerKindOf }),
      );
    });
  });
}

/** @throws HttpError 400 that names `id` */
export function parseOrderId(text: string): string {
  if (/^[1-9][0-9]{0,17}$/.test(text)) return text;
  throw invalidField("id", "must be a whole number of 1 or more");
}

function parseKey(text: string | null): string | null {
  if (text === null || idempotencyKeySchema.safeParse(text).success) return text;
  throw invalidField("idempotency-key", "must be 1 to 200 printable ASCII characters without spaces");
}

function orderAnswer(order: ShopOrder): Answer {
  const headers = { ...served(), "x-lock-strategy": order.strategy };
  return { status: 200, headers, body: JSON.stringify({ order }) };
}

function failureAnswer(error: unknown): Answer {
  const { options } = toHttpError(error);
  return {
    status: options.status,
    headers: { ...served(), ...options.headers },
    body: JSON.stringify(errorBody(options)),
  };
}

function served(): Record<string, string> {
  const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
  return { ...headers, "x-store-node": currentNode().name };
}

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}
