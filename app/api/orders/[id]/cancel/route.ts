import { orderAction } from "@/lib/http/order-action";
import { currentNode } from "@/lib/node/current-node";
import { cancelRequestSchema } from "@/lib/shop/api";
import { cancelOrder } from "@/lib/shop/pay-order";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** The visitor does not want it any more; its units go back on sale. */
export const POST = (request: Request, { params }: Context) =>
  orderAction(request, params, {
    name: "cancel",
    bodySchema: cancelRequestSchema,
    act: (order) => cancelOrder(currentNode(), order),
    isDone: ({ status, endReason }) => status === "cancelled" && endReason === "buyer",
  });
