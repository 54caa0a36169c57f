import { apiRoute } from "@/lib/http/api-route";
import { requireRun } from "@/lib/http/require-run";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

export const GET = (_request: Request, { params }: Context) => apiRoute(async () => requireRun((await params).id));
