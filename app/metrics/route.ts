import { asResponse, metricsText } from "@/lib/http/probes";

export const dynamic = "force-dynamic";

/** What Prometheus scrapes. */
export const GET = async () => asResponse(await metricsText());
