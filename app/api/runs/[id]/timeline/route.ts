import { spansWithin } from "@/lib/history/timeline";
import { apiRoute, readQuery } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { timelineQuerySchema } from "@/lib/http/routes/requests";
import { evidenceOf } from "@/lib/runs/evidence";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** Who was inside, node by node, as columns; `fromUs` and `toUs` leave out what lies outside of them. */
export const GET = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    const query = readQuery(request, timelineQuerySchema);
    const { timeline, faults } = await evidenceOf(await requireEndedRun((await params).id));
    const { fromUs, toUs = timeline.endUs } = query;
    const isWhole = fromUs === 0 && toUs >= timeline.endUs;
    return { ...timeline, faults, spans: isWhole ? timeline.spans : spansWithin(timeline, fromUs, toUs) };
  });
