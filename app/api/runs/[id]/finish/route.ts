import { apiRoute, readJson, requireAdmin } from "@/lib/http/api-route";
import { type FinishRequest, finishRequestSchema } from "@/lib/runs/document";
import { generatorCpuPercent } from "@/lib/runs/engines/cpu-watch";
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
    return coordinator().finish(id, withGeneratorCpu(id, await readJson(request, finishRequestSchema)));
  });

/** A generator that cannot tell what it took of the processor was watched by whoever started it. */
function withGeneratorCpu(id: string, finish: FinishRequest): FinishRequest {
  const percent = generatorCpuPercent(id);
  if (!finish.client || finish.client.generatorCpuPercent !== undefined || percent === undefined) return finish;
  return { ...finish, client: { ...finish.client, generatorCpuPercent: percent } };
}
