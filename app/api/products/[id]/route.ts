import { apiRoute } from "@/lib/http/api-route";
import { notFound } from "@/lib/http/errors";
import { parseTargetId } from "@/lib/http/hot-path";
import { findProduct } from "@/lib/shop/queries";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const id = parseTargetId((await params).id);
    const product = await findProduct(id);
    if (!product) throw notFound(`product ${id}`);
    return { product };
  });
