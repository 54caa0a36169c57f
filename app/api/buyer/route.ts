import { apiRoute } from "@/lib/http/api-route";
import { admitVisitor } from "@/lib/http/buyer-cookie";

export const dynamic = "force-dynamic";

/** Who the visitor is: anonymous, and the same as last time. */
export const GET = (request: Request) =>
  apiRoute(async () => {
    const { buyerId, setCookie } = await admitVisitor(request.headers.get("cookie"));
    return Response.json({ buyerId }, { headers: { "set-cookie": setCookie, "cache-control": "no-store" } });
  });
