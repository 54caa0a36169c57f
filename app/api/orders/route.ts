import { apiRoute } from "@/lib/http/api-route";
import { requireVisitor } from "@/lib/http/buyer-cookie";
import { listClaims, listOrders } from "@/lib/shop/queries";

export const dynamic = "force-dynamic";

/** The visitor's own, newest first. */
export const GET = (request: Request) =>
  apiRoute(async () => {
    const buyerId = await requireVisitor(request.headers.get("cookie"));
    const [orders, claims] = await Promise.all([listOrders(buyerId), listClaims(buyerId)]);
    return { orders, claims };
  });
