import { apiRoute } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { notFound } from "@/lib/http/errors";
import { evidenceOf } from "@/lib/runs/evidence";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string; readonly name: string }>;
}

/** One finding and how it came about, step by step. */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const { id, name } = await params;
    const { explain } = await evidenceOf(await requireEndedRun(id));
    const explained = explain(name);
    if (explained === null) throw notFound(`finding ${name.slice(0, 64)}`);
    return explained;
  });
