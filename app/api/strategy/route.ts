import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { strategyRequestSchema } from "@/lib/http/routes/requests";
import { activeStrategies, switchAllNodes } from "@/lib/runs/active-strategy";

export const dynamic = "force-dynamic";

export const GET = () => apiRoute(activeStrategies);

export const PUT = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    return switchAllNodes((await readJson(request, strategyRequestSchema)).id);
  });
