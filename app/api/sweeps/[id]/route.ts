import { apiRoute } from "@/lib/http/api-route";
import { notFound } from "@/lib/http/errors";
import { readSweep } from "@/lib/runs/queries";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

/** A sweep as its runs tell it: every cell, with its run document where it has one. */
export const GET = (_request: Request, { params }: Context) =>
  apiRoute(async () => {
    const { id } = await params;
    const sweep = await readSweep(id);
    if (sweep === null) throw notFound(`sweep ${id.slice(0, 64)}`);
    return sweep;
  });
