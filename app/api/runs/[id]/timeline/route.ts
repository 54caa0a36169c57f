import { z } from "zod";
import { spansWithin } from "@/lib/history/timeline";
import { apiRoute } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { fromIssues } from "@/lib/http/hot-path";
import { evidenceOf } from "@/lib/runs/evidence";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

const micros = z.coerce.number().int().min(0);
const querySchema = z.strictObject({ fromUs: micros.default(0), toUs: micros.optional() });

/** Who was inside, node by node, as columns; `fromUs` and `toUs` leave out what lies outside of them. */
export const GET = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    const query = querySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
    if (!query.success) throw fromIssues(query.error.issues);
    const { timeline, faults } = await evidenceOf(await requireEndedRun((await params).id));
    const { fromUs, toUs = timeline.endUs } = query.data;
    const isWhole = fromUs === 0 && toUs >= timeline.endUs;
    return { ...timeline, faults, spans: isWhole ? timeline.spans : spansWithin(timeline, fromUs, toUs) };
  });
