import { apiRoute } from "@/lib/http/api-route";
import { requireRun } from "@/lib/http/require-run";
import { readSamples } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const { id } = await requireRun((await params).id);
    return { samples: await readSamples(id) };
  });
