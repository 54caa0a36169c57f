import { z } from "zod";
import { exportRun } from "@/app/_lib/export/run-export";
import { HISTOGRAM_NAMES } from "@/app/_lib/export/run-hgrm";
import { apiRoute } from "@/lib/http/api-route";
import { HttpError } from "@/lib/http/errors";
import { fromIssues } from "@/lib/http/hot-path";
import { requireRun } from "@/lib/http/require-run";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

const querySchema = z.strictObject({
  format: z.enum(["json", "csv", "hgrm", "html"]),
  rows: z.enum(["samples", "operations"]).default("samples"),
  of: z.enum(HISTOGRAM_NAMES).default("latency"),
});

/** A run that has ended, as a file to keep (docs/exports.md). */
export const GET = (request: Request, { params }: Context) =>
  apiRoute(async () => {
    const query = querySchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
    if (!query.success) throw fromIssues(query.error.issues);
    const document = await requireRun((await params).id);
    if (document.status === "running") {
      throw new HttpError({ status: 409, code: "run_running", message: "The run can be exported when it has ended." });
    }
    const file = await exportRun(document, query.data);
    if (file === null) {
      const message = "This run was made before whole distributions were kept; its document has their percentiles.";
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
