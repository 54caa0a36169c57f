import { apiRoute } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { evidenceOf } from "@/lib/runs/evidence";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** The run over time, in steps worked out of its history; null where its samples are all there is. */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const { series, faults } = await evidenceOf(await requireEndedRun((await params).id));
    return { series, faults };
  });
