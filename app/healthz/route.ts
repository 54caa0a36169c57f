import { env } from "@/lib/services/current-env";

export const dynamic = "force-dynamic";

/** Liveness: the process answers. */
export const GET = () => Response.json({ status: "ok", node: env().STORE_NODE });
