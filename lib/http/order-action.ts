import type { z } from "zod";
import { currentNode } from "../node/current-node";
import type { cancelRequestSchema, PayRequest, ShopOrder } from "../shop/api";
import { cancelOrder, payOrder } from "../shop/pay-order";
import { findOrder } from "../shop/queries";
import { limitOrderActions } from "./admission";
import { errorAnswer, json, type WholeAnswer } from "./answer";
import { requireVisitor } from "./buyer-cookie";
import { toHttpError } from "./errors";
import { answerKeyed } from "./keyed-answer";
import { headerOf, type RawRequest } from "./raw-request";
import type { ApiRequest } from "./route";

/** `POST /api/orders/{id}/pay` and `POST /api/orders/{id}/cancel`. */

/** Longer than a payment waits for its lock, and longer than an idempotency claim outlives its process. */
const REPLAY_WAIT_MS = 15_000;

type OrderRequest<Body> = ApiRequest<{ readonly id: string }, unknown, Body>;

interface OwnOrder {
  readonly orderId: string;
  readonly buyerId: string;
}

interface OrderAction {
  readonly orderId: string;
  /** `orders/{id}/pay` or `orders/{id}/cancel` */
  readonly route: string;
  readonly body: unknown;
  act(order: OwnOrder): Promise<ShopOrder>;
  /** True if a first request with the same key would have left the order like this. */
  isDone(order: ShopOrder): boolean;
}

export function payOwnOrder({ params: { id }, body, raw }: OrderRequest<PayRequest>): Promise<WholeAnswer> {
  return actOnOrder(raw, {
    orderId: id,
    route: `orders/${id}/pay`,
    body,
    act: (order) => payOrder(currentNode(), order, body),
    isDone: ({ status }) => status === "paid",
  });
}

export function cancelOwnOrder(request: OrderRequest<z.output<typeof cancelRequestSchema>>): Promise<WholeAnswer> {
  const { id } = request.params;
  return actOnOrder(request.raw, {
    orderId: id,
    route: `orders/${id}/cancel`,
    body: request.body,
    act: (order) => cancelOrder(currentNode(), order),
    isDone: ({ status, endReason }) => status === "cancelled" && endReason === "buyer",
  });
}

async function actOnOrder(raw: RawRequest, { orderId, route, body, act, isDone }: OrderAction): Promise<WholeAnswer> {
  const buyerId = await requireVisitor(raw.headers.cookie ?? null);
  const key = headerOf(raw.headers, "idempotency-key");
  limitOrderActions(buyerId);
  const order = { orderId, buyerId };
  if (key === null) return orderAnswer(await act(order));
  const findEarlierAnswer = async () => {
    const found = await findOrder(orderId, buyerId);
    return found && isDone(found) ? orderAnswer(found) : null;
  };
  const toError = (error: unknown) =>
    errorAnswer(toHttpError(error, headerOf(raw.headers, "x-request-id")), storeNodeHeader());
  const work = () => act(order).then(orderAnswer, toError);
  const keyed = { userId: buyerId, route, key, content: body, waitMs: REPLAY_WAIT_MS };
  return answerKeyed(keyed, { work, findEarlierAnswer });
}

function orderAnswer(order: ShopOrder): WholeAnswer {
  return json({ order }, { headers: { ...storeNodeHeader(), "x-lock-strategy": order.strategy } });
}

export function storeNodeHeader(): Record<string, string> {
  return { "x-store-node": currentNode().name };
}
