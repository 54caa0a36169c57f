import type { StockTarget } from "../stock/types";
import { handleHotRequest, MAX_BODY_BYTES } from "./hot-path";

/** From Next's Request to the hot routes' function; the other way in is `node-adapter.ts`. */
export async function answerHotRequest(
  request: Request,
  target: { readonly kind: StockTarget["kind"]; readonly idText: string },
): Promise<Response> {
  const bytes = Buffer.from(await request.arrayBuffer());
  const answer = await handleHotRequest({
    ...target,
    method: request.method,
    contentType: request.headers.get("content-type"),
    runId: request.headers.get("x-run-id"),
    runKey: request.headers.get("x-run-key"),
    idempotencyKey: request.headers.get("idempotency-key"),
    cookie: request.headers.get("cookie"),
    requestId: request.headers.get("x-request-id"),
    body: bytes.length > MAX_BODY_BYTES ? null : bytes.toString("utf8"),
  });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}
