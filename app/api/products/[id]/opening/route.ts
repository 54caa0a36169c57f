import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { parseTargetId } from "@/lib/http/hot-path";
import { openingRequestSchema } from "@/lib/shop/api";
import { setOpening } from "@/lib/shop/opening";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** When the sale opens, counted from now. */
export const PUT = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    requireAdmin(request);
    const id = parseTargetId((await params).id);
    const { opensInMs } = await readJson(request, openingRequestSchema);
    return { opensAtEpochMs: await setOpening({ kind: "product", id }, opensInMs) };
  });
