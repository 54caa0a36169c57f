import { apiRoute } from "@/lib/http/api-route";
import { notFound } from "@/lib/http/errors";
import { parseTargetId } from "@/lib/http/hot-path";
import { currentNode } from "@/lib/node/current-node";
import { driftOf } from "@/lib/shop/counters";
import { findProduct, readProductOrders } from "@/lib/shop/queries";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** The product, what became of its units, and what is counted of it beside PostgreSQL. */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const id = parseTargetId((await params).id);
    const product = await findProduct(id);
    if (!product) throw notFound(`product ${id}`);
    const [orders, drift] = await Promise.all([readProductOrders(id), driftOf(currentNode(), { kind: "product", id })]);
    return { product, orders, drift };
  });
