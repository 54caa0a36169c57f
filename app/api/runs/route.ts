import { z } from "zod";
import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { fromIssues } from "@/lib/http/hot-path";
import { runRequestSchema } from "@/lib/runs/document";
import { coordinator, openRun } from "@/lib/runs/lab";
import { listRuns } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

const querySchema = z.strictObject({ limit: z.coerce.number().int().min(1).max(500).default(50) });

export const GET = (request: Request) =>
  apiRoute(async () => {
    const query = querySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
    if (!query.success) throw fromIssues(query.error.issues);
    return { runs: await listRuns(query.data.limit) };
  });

/** Opens a run; with `launch` the lab sends the load itself. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    requireAdmin(request);
    const document = await openRun(await readJson(request, runRequestSchema));
    const headers = { location: `/api/runs/${document.id}`, "x-run-key": coordinator().runKey(document.id) ?? "" };
    return Response.json(document, { status: 201, headers });
  });
