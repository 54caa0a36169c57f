import { servesSales } from "../node/current-node";
import { readText } from "./api-route";
import { forwardToNode } from "./forward";

/** For Next route handlers whose work belongs to a store node: done here where this process is one, else by one that is. */
export async function atNode(request: Request, work: () => Promise<Response | object>): Promise<Response | object> {
  if (servesSales()) return work();
  const { pathname, search } = new URL(request.url);
  const header = (name: string) => request.headers.get(name);
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  const { status, headers, body } = await forwardToNode({
    method: request.method,
    path: `${pathname}${search}`,
    headers: {
      "content-type": header("content-type"),
      "idempotency-key": header("idempotency-key"),
      cookie: header("cookie"),
      authorization: header("authorization"),
      "x-request-id": header("x-request-id"),
    },
    body: hasBody ? await readText(request) : null,
  });
  return new Response(body, { status, headers });
}
