import { apiRoute, readQuery } from "@/lib/http/api-route";
import { currentNode } from "@/lib/node/current-node";
import { driftQuerySchema } from "@/lib/shop/api";
import { driftOf } from "@/lib/shop/counters";

export const dynamic = "force-dynamic";

/** What is counted of a target beside PostgreSQL, and how far it is from the row. */
export const GET = (request: Request) =>
  apiRoute(async () => {
    const target = readQuery(request, driftQuerySchema);
    return { target, drift: await driftOf(currentNode(), target) };
  });
