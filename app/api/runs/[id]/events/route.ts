import { apiRoute } from "@/lib/http/api-route";
import { requireRun } from "@/lib/http/require-run";
import { runEvents } from "@/lib/http/run-events";
import { eventStream } from "@/lib/http/sse";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** The live feed. A late joiner gets the past first; `Last-Event-ID` resumes. */
export const GET = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    const { id } = await requireRun((await params).id);
    const lastId = Number.parseInt(request.headers.get("last-event-id") ?? "0", 10);
    return eventStream(request.signal, (signal) =>
      runEvents({ id, afterSeq: Number.isNaN(lastId) ? 0 : lastId, signal }),
    );
  });
