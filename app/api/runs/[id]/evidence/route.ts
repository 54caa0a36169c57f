import { loadInitialEvidence } from "@/app/_lib/initial-evidence";
import { apiRoute } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

const NOTHING_LINKED_TO = { finding: null, range: null };

/** What a page opens the run's evidence with, so that it can be shown without asking several times. */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => loadInitialEvidence(await requireEndedRun((await params).id), NOTHING_LINKED_TO));
