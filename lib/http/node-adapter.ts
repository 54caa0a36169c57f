import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type { Answer, WholeAnswer } from "./answer";
import { clientAddress } from "./client-address";
import { dispatch } from "./dispatch";
import type { ErrorCode } from "./error-table";
import { HttpError } from "./errors";
import type { RawRequest } from "./raw-request";
import { matchRoute, type RouteMatch } from "./route-matcher";
import { NO_VIEWS, type RunViews } from "./run-views";
import { API_HEADERS } from "./security-headers";

/** Connects node:http to the route table. */

/** A body that is too long is read and discarded up to here, so that its sender can still read the answer. */
const MAX_DISCARDED_BYTES = 8 * 1_024 * 1_024;
const MIN_COMPRESSED_LENGTH = 16_384;
/** A connection that takes no bytes of its answer for this long is closed. */
const STALL_LIMIT_MS = 30_000;
const gzipText = promisify(gzip);

/** Answers an API request. @returns the error code of the answer */
export async function serveApi(
  request: IncomingMessage,
  response: ServerResponse,
  { match, views }: { readonly match: RouteMatch; readonly views: RunViews },
): Promise<ErrorCode | null> {
  const answer = await dispatch(new NodeRequest(request, response), match, views);
  const isCompressed = isLarge(match) && /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  if ("chunks" in answer) await sendChunks(request, response, { answer, isCompressed });
  else if (isCompressed && answer.body.length >= MIN_COMPRESSED_LENGTH) await sendCompressed(request, response, answer);
  else send(request, response, answer);
  return answer.code;
}

/** A request listener that serves the API and no pages. */
export function apiListener(request: IncomingMessage, response: ServerResponse): void {
  const match = matchRoute(request.url ?? "/");
  serveApi(request, response, { match, views: NO_VIEWS }).catch((error: Error) => response.destroy(error));
}

function isLarge({ routes }: RouteMatch): boolean {
  return routes?.byMethod.get("GET")?.isLarge === true;
}

class NodeRequest implements RawRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.method = request.method ?? "GET";
    this.url = request.url ?? "/";
    this.headers = request.headers;
    this.#request = request;
    this.#response = response;
  }

  /** Listens for events, because an async iterator costs several microseconds per request. */
  readBody(limitBytes: number): Promise<string | null> {
    if (Number(this.headers["content-length"] ?? 0) > MAX_DISCARDED_BYTES) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const closed = () => reject(new HttpError({ code: "aborted", message: "The client closed the connection." }));
      const chunks: Buffer[] = [];
      let size = 0;
      this.#request
        .on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size <= limitBytes) chunks.push(chunk);
          else if (size > MAX_DISCARDED_BYTES) resolve(null);
        })
        .once("end", () => resolve(size > limitBytes ? null : Buffer.concat(chunks).toString("utf8")))
        .once("error", closed)
        .once("close", closed);
    });
  }

  get address(): string {
    return clientAddress(this.#request);
  }

  closeSignal(): AbortSignal {
    const controller = new AbortController();
    if (this.#response.destroyed) controller.abort();
    else this.#response.once("close", () => controller.abort());
    return controller.signal;
  }
}

/** Writes a whole answer with the headers that every answer has. */
export function send(request: IncomingMessage, response: ServerResponse, answer: WholeAnswer): void {
  const { status, headers, body } = answer;
  const all = headersOf(request, headers);
  all["content-length"] = String(Buffer.byteLength(body));
  response.writeHead(status, all).end(request.method === "HEAD" ? undefined : body);
  if ((response.socket?.writableLength ?? 0) > 0) response.setTimeout(STALL_LIMIT_MS);
}

async function sendCompressed(request: IncomingMessage, response: ServerResponse, answer: WholeAnswer): Promise<void> {
  const bytes = await gzipText(answer.body);
  const encoded = { ...answer.headers, ...GZIP_HEADERS, "content-length": String(bytes.length) };
  response.writeHead(answer.status, headersOf(request, encoded)).end(request.method === "HEAD" ? undefined : bytes);
  response.setTimeout(STALL_LIMIT_MS);
}

const GZIP_HEADERS = { "content-encoding": "gzip", vary: "accept-encoding" };

export interface Streamed {
  readonly answer: Extract<Answer, { readonly chunks: unknown }>;
  readonly isCompressed: boolean;
  readonly stallLimitMs?: number;
}

export async function sendChunks(
  request: IncomingMessage,
  response: ServerResponse,
  streamed: Streamed,
): Promise<void> {
  const { answer, isCompressed, stallLimitMs = STALL_LIMIT_MS } = streamed;
  const headers = isCompressed ? { ...answer.headers, ...GZIP_HEADERS } : answer.headers;
  response.writeHead(answer.status, headersOf(request, headers));
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  response.flushHeaders();
  response.setTimeout(stallLimitMs);
  const steps: Transform[] = isCompressed ? [createGzip()] : [];
  await pipeline([Readable.from(answer.chunks), ...steps, response]);
}

function headersOf({ headers }: IncomingMessage, answer: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = { ...API_HEADERS, ...answer };
  const requestId = headers["x-request-id"];
  if (typeof requestId === "string") all["x-request-id"] = requestId;
  return all;
}
