import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { currentNode } from "@/lib/node/current-node";
import { reconcileRequestSchema } from "@/lib/shop/api";
import { reconcileCounters } from "@/lib/shop/counters";

export const dynamic = "force-dynamic";

/** Settles what crashes and lost replies have left between the counters and the orders. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    return reconcileCounters(currentNode(), await readJson(request, reconcileRequestSchema));
  });
