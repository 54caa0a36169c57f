import { env } from "../services/current-env";
import { metrics } from "../services/metrics";
import { readiness } from "./readiness";

/** What watches the lab asks; reached ahead of Next, and by its route handlers. */

export interface TextAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const jsonHeaders = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Liveness: the process answers. */
export function liveness(): TextAnswer {
  return { status: 200, headers: jsonHeaders, body: JSON.stringify({ status: "ok", node: env().STORE_NODE }) };
}

/** Readiness: the servers this node needs answer, and it is not shutting down. */
export async function readinessAnswer(): Promise<TextAnswer> {
  const state = await readiness();
  const headers = state.ready ? jsonHeaders : { ...jsonHeaders, "retry-after": "1" };
  return { status: state.ready ? 200 : 503, headers, body: JSON.stringify(state) };
}

/** Prometheus' text format. */
export async function metricsText(): Promise<TextAnswer> {
  const { registry } = metrics();
  const headers = { "content-type": registry.contentType, "cache-control": "no-store" };
  return { status: 200, headers, body: await registry.metrics() };
}

export function asResponse({ status, headers, body }: TextAnswer): Response {
  return new Response(body, { status, headers });
}
