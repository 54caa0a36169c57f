import { Readable } from "node:stream";
import { apiRoute } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { historyLines } from "@/lib/runs/history-export";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** The recorded operations as NDJSON (docs/history-format.md). */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const document = await requireEndedRun((await params).id);
    const stream = Readable.toWeb(Readable.from(historyLines(document))) as ReadableStream<Uint8Array>;
    return new Response(stream, {
      headers: {
        "content-type": "application/x-ndjson",
        "content-disposition": `attachment; filename="history-${document.id}.ndjson"`,
        "cache-control": "no-store",
      },
    });
  });
