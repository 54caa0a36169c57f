import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { describeStrategy } from "@/lib/runs/lab-description";
import { breakLockRequestSchema } from "@/lib/shop/api";
import { breakLockOf } from "@/lib/shop/break-lock";

export const dynamic = "force-dynamic";

/** The operator's way out of a lock that nobody will ever free. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    const { strategy, target } = await readJson(request, breakLockRequestSchema);
    return breakLockOf({ strategy: describeStrategy(strategy).id, target });
  });
