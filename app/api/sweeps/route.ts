import { z } from "zod";
import { apiRoute } from "@/lib/http/api-route";
import { fromIssues } from "@/lib/http/hot-path";
import { listSweeps } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

const querySchema = z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) });

/** The newest sweeps, with how far each has come. */
export const GET = (request: Request) =>
  apiRoute(async () => {
    const query = querySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
    if (!query.success) throw fromIssues(query.error.issues);
    return { sweeps: await listSweeps(query.data.limit) };
  });
