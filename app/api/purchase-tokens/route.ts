import { refuseCrossSite } from "@/lib/http/admin-guard";
import { apiRoute, originOf, readJson } from "@/lib/http/api-route";
import { requireVisitor } from "@/lib/http/buyer-cookie";
import { purchaseTokenRequestSchema } from "@/lib/shop/api";
import { issuePurchaseToken } from "@/lib/shop/purchase-tokens";

export const dynamic = "force-dynamic";

/** A right to one purchase, for later: the visitor's unused token of the product, or a new one. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    refuseCrossSite(originOf(request));
    const buyerId = await requireVisitor(request.headers.get("cookie"));
    const { productId } = await readJson(request, purchaseTokenRequestSchema);
    const { isNew, ...token } = await issuePurchaseToken(productId, buyerId);
    return Response.json(token, { status: isNew ? 201 : 200, headers: { "cache-control": "no-store" } });
  });
