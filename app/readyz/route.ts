import { asResponse, readinessAnswer } from "@/lib/http/probes";

export const dynamic = "force-dynamic";

/** Readiness: the servers this node needs answer. */
export const GET = async () => asResponse(await readinessAnswer());
