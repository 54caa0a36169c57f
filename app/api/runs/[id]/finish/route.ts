import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { finishRequestSchema } from "@/lib/runs/document";
import { withGeneratorCpu } from "@/lib/runs/engines/cpu-watch";
import { coordinator } from "@/lib/runs/lab";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** The load is over: closes the run on every node, judges it, and answers with its document. */
export const POST = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    requireAdmin(request);
    const { id } = await params;
    const { client, ...finish } = await readJson(request, finishRequestSchema);
    return coordinator().finish(id, { ...finish, ...(client ? { client: withGeneratorCpu(id, client) } : {}) });
  });
