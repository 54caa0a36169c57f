import { asResponse, liveness } from "@/lib/http/probes";

export const dynamic = "force-dynamic";

/** Liveness: the process answers. */
export const GET = () => asResponse(liveness());
