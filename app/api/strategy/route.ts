import { z } from "zod";
import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { activeStrategies, switchAllNodes } from "@/lib/runs/active-strategy";

export const dynamic = "force-dynamic";

const bodySchema = z.strictObject({ id: z.string().min(1).max(64) });

export const GET = () => apiRoute(activeStrategies);

export const PUT = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    return switchAllNodes((await readJson(request, bodySchema)).id);
  });
