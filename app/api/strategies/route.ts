import { apiRoute } from "@/lib/http/api-route";
import { describeStrategies } from "@/lib/runs/lab-description";

export const dynamic = "force-dynamic";

export const GET = () => apiRoute(describeStrategies);
