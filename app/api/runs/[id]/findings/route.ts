import { apiRoute } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { evidenceOf } from "@/lib/runs/evidence";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** What the checkers find in the run's history, each finding with the name that it can be linked to by. */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const { verdict, violations, operations, findings } = await evidenceOf(await requireEndedRun((await params).id));
    return { verdict, violations, operations, findings };
  });
