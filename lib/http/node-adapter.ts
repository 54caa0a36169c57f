import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RequestOrigin } from "./admin-guard";
import { handleHotRequest, MAX_BODY_BYTES, matchHotPath } from "./hot-path";
import { handleControl } from "./node-control";
import { liveness, metricsText, readinessAnswer, type TextAnswer } from "./probes";
import { API_HEADERS } from "./security-headers";

/** From node:http to the functions that answer, ahead of Next. */

const CONTROL_PREFIX = "/api/node/";
const MAX_CONTROL_BODY_BYTES = 16_384;
/** Of a body that is too long so much is read and thrown away, so that its sender lives to see the answer. */
const MAX_DISCARDED_BYTES = 8 * 1_024 * 1_024;

/**
 * Ahead of Next too: load generators connect by /healthz, and 500 of them would keep Next busy when the doors open;
 * and whoever watches the lab should see it best when it is busiest.
 */
const probes: Readonly<Record<string, () => TextAnswer | Promise<TextAnswer>>> = {
  "/healthz": liveness,
  "/readyz": readinessAnswer,
  "/metrics": metricsText,
};

/** Answers the request if it is a hot or a control route, or a probe. @returns false when it is Next's */
export async function answerAheadOfNext(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const url = request.url ?? "/";
  const hot = matchHotPath(url);
  if (hot) {
    const answer = await handleHotRequest({
      ...hot,
      method: request.method ?? "GET",
      contentType: request.headers["content-type"] ?? null,
      runId: header(request, "x-run-id"),
      runKey: header(request, "x-run-key"),
      idempotencyKey: header(request, "idempotency-key"),
      cookie: request.headers.cookie ?? null,
      requestId: header(request, "x-request-id"),
      body: await readBody(request, MAX_BODY_BYTES),
    });
    send(request, response, answer);
    return true;
  }
  const probe = probes[url.split("?", 1)[0] ?? ""];
  if (probe) {
    send(request, response, await probe());
    return true;
  }
  if (!url.startsWith(CONTROL_PREFIX)) return false;
  await answerControl(request, response, url);
  return true;
}

async function answerControl(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const { status, headers, body } = await handleControl({
    ...originOf(request),
    method: request.method ?? "GET",
    path: url.slice(CONTROL_PREFIX.length).split("?", 1)[0] ?? "",
    body: await readBody(request, MAX_CONTROL_BODY_BYTES),
  });
  if (typeof body === "string") {
    send(request, response, { status, headers, body });
    return;
  }
  response.writeHead(status, { ...API_HEADERS, ...headers });
  await pipeline(Readable.from(body), response);
}

/** Codes of the 5xx that this process wrote, for the log. */
const codes = new WeakMap<ServerResponse, string>();

export function errorCodeOf(response: ServerResponse): string | null {
  return codes.get(response) ?? null;
}

/** Writes a whole answer, with what every answer carries. */
export function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: TextAnswer): void {
  if (status >= 500) {
    const code = /^\{"error":\{"code":"([a-z_]+)"/.exec(body)?.[1];
    if (code !== undefined) codes.set(response, code);
  }
  const requestId = request.headers["x-request-id"];
  response
    .writeHead(status, {
      ...API_HEADERS,
      ...(typeof requestId === "string" ? { "x-request-id": requestId } : {}),
      ...headers,
      "content-length": Buffer.byteLength(body),
    })
    .end(request.method === "HEAD" ? undefined : body);
}

/** The whole body as text; null once it is longer than the limit. */
async function readBody(request: IncomingMessage, limitBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = Number(request.headers["content-length"] ?? 0) > MAX_DISCARDED_BYTES ? Number.POSITIVE_INFINITY : 0;
  if (size > limitBytes) return null;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limitBytes) chunks.push(chunk);
    else if (size > MAX_DISCARDED_BYTES) break;
  }
  return size > limitBytes ? null : Buffer.concat(chunks).toString("utf8");
}

export function originOf(request: IncomingMessage): RequestOrigin {
  return {
    host: request.headers.host ?? null,
    origin: request.headers.origin ?? null,
    secFetchSite: header(request, "sec-fetch-site"),
    authorization: request.headers.authorization ?? null,
    cookie: request.headers.cookie ?? null,
  };
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
}
