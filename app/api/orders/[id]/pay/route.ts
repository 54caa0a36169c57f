import { orderAction } from "@/lib/http/order-action";
import { currentNode } from "@/lib/node/current-node";
import { payRequestSchema } from "@/lib/shop/api";
import { payOrder } from "@/lib/shop/pay-order";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** A simulated payment: the visitor says how it goes. */
export const POST = (request: Request, { params }: Context) =>
  orderAction(request, params, {
    name: "pay",
    bodySchema: payRequestSchema,
    act: (order, body) => payOrder(currentNode(), order, body),
    isDone: ({ status }) => status === "paid",
  });
