import { apiRoute } from "@/lib/http/api-route";
import { requireVisitor } from "@/lib/http/buyer-cookie";
import { parseOrderId } from "@/lib/http/order-action";
import { findOrder } from "@/lib/shop/queries";
import { ShopError } from "@/lib/shop/shop-error";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** One of the visitor's own; another's is not there. */
export const GET = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    const orderId = parseOrderId((await params).id);
    const order = await findOrder(orderId, await requireVisitor(request.headers.get("cookie")));
    if (!order) throw new ShopError({ code: "order_not_found", message: `You have no order ${orderId}.` });
    return { order };
  });
