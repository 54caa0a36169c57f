import { exportRun } from "@/app/_lib/export/run-export";
import { apiRoute, readQuery } from "@/lib/http/api-route";
import { requireEndedRun } from "@/lib/http/ended-run";
import { HttpError } from "@/lib/http/errors";
import { exportQuerySchema } from "@/lib/http/routes/requests";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** A run that has ended, as a file to keep (docs/exports.md). */
export const GET = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    const query = readQuery(request, exportQuerySchema);
    const document = await requireEndedRun((await params).id);
    const file = await exportRun(document, query);
    if (file === null) {
      const message = "This run kept no such distribution, whole; its document has a few percentiles.";
      throw new HttpError({ status: 409, code: "no_histogram", message });
    }
    return new Response(file.body, {
      headers: {
        "content-type": file.contentType,
        "content-disposition": `attachment; filename="${file.name}"`,
        "cache-control": "no-store",
      },
    });
  });
