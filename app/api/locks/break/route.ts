import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { breakLockRequestSchema } from "@/lib/shop/api";
import { breakLockOf } from "@/lib/shop/break-lock";

export const dynamic = "force-dynamic";

/** The operator's way out of a lock that nobody will ever free. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    return breakLockOf(await readJson(request, breakLockRequestSchema));
  });
