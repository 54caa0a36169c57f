import { apiRoute, readQuery } from "@/lib/http/api-route";
import { sweepsQuerySchema } from "@/lib/http/routes/requests";
import { listSweeps } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

/** The newest sweeps, with how far each has come. */
export const GET = (request: Request) =>
  apiRoute(async () => {
    const query = readQuery(request, sweepsQuerySchema);
    return { sweeps: await listSweeps(query.limit) };
  });
