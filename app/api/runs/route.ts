import { apiRoute, readJson, readQuery, requireAdmin } from "@/lib/http/api-route";
import { runsQuerySchema } from "@/lib/http/routes/requests";
import { runRequestSchema } from "@/lib/runs/document";
import { coordinator, openRun } from "@/lib/runs/lab";
import { listRuns } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

export const GET = (request: Request) =>
  apiRoute(async () => {
    const query = readQuery(request, runsQuerySchema);
    return { runs: await listRuns(query.limit) };
  });

/** Opens a run; with `launch` the lab sends the load itself. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    const document = await openRun(await readJson(request, runRequestSchema));
    const headers = { location: `/api/runs/${document.id}`, "x-run-key": coordinator().runKey(document.id) ?? "" };
    return Response.json(document, { status: 201, headers });
  });
