import { readiness } from "@/lib/http/readiness";

export const dynamic = "force-dynamic";

/** Readiness: the servers this node needs answer. */
export const GET = async () => {
  const { ready, ...checks } = await readiness();
  return Response.json({ ready, ...checks }, { status: ready ? 200 : 503, headers: { "cache-control": "no-store" } });
};
