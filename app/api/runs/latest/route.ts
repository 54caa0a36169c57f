import { apiRoute } from "@/lib/http/api-route";
import { latestRunPerStrategy } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

export const GET = () => apiRoute(async () => ({ runs: await latestRunPerStrategy() }));
