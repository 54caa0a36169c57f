import { apiRoute } from "@/lib/http/api-route";
import { openApiDocument } from "@/lib/http/routes/openapi";
import packageJson from "@/package.json";

export const dynamic = "force-dynamic";

/** The API's contract, from the schemas that validate. */
export const GET = () => apiRoute(async () => openApiDocument(packageJson.version));
