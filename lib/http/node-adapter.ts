import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { env } from "../services/current-env";
import type { RequestOrigin } from "./admin-guard";
import { handleHotRequest, MAX_BODY_BYTES, matchHotPath } from "./hot-path";
import { handleControl } from "./node-control";

/** From node:http to the functions that answer, ahead of Next. */

const CONTROL_PREFIX = "/api/node/";
const MAX_CONTROL_BODY_BYTES = 16_384;

/** Answers the request if it is a hot or a control route, or asks whether the process lives. @returns false when it is Next's */
export async function answerAheadOfNext(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const url = request.url ?? "/";
  if (url === "/healthz") {
    // Ahead of Next too: load generators connect by it, and 500 of them would keep Next busy when the doors open.
    send(response, liveness());
    return true;
  }
  const hot = matchHotPath(url);
  if (hot) {
    const answer = await handleHotRequest({
      ...hot,
      method: request.method ?? "GET",
      contentType: request.headers["content-type"] ?? null,
      runId: header(request, "x-run-id"),
      runKey: header(request, "x-run-key"),
      body: await readBody(request, MAX_BODY_BYTES),
    });
    send(response, answer);
    return true;
  }
  if (!url.startsWith(CONTROL_PREFIX)) return false;
  const answer = await handleControl({
    ...originOf(request),
    method: request.method ?? "GET",
    path: url.slice(CONTROL_PREFIX.length).split("?", 1)[0] ?? "",
    body: await readBody(request, MAX_CONTROL_BODY_BYTES),
  });
  const { status, headers, body } = answer;
  if (typeof body === "string") send(response, { status, headers, body });
  else {
    response.writeHead(status, headers);
    await pipeline(Readable.from(body), response);
  }
  return true;
}

function liveness(): TextAnswer {
  const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
  return { status: 200, headers, body: JSON.stringify({ status: "ok", node: env().STORE_NODE }) };
}

interface TextAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function send(response: ServerResponse, { status, headers, body }: TextAnswer): void {
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
}

/** The whole body as text; null once it is longer than the limit (the rest is read and thrown away). */
async function readBody(request: IncomingMessage, limitBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limitBytes) chunks.push(chunk);
    else if (size > 64 * limitBytes) break;
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
