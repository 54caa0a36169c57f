import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { log } from "../services/log";
import { errorAnswer } from "./answer";
import { clientAddress } from "./client-address";
import { CLIENT_CLOSED_STATUS, type ErrorCode } from "./error-table";
import { HttpError, invalidField, toHttpError } from "./errors";
import { guardHost } from "./host-guard";
import { send, serveApi } from "./node-adapter";
import { headerOf } from "./raw-request";
import { requestIdOf } from "./request-id";
import { noteAnswer } from "./request-log";
import { matchRoute, type RouteMatch } from "./route-matcher";
import type { RunViews } from "./run-views";
import { API_HEADERS, pageHeaders } from "./security-headers";

export type NextHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface FrontDoorOptions {
  readonly next: NextHandler;
  readonly views: RunViews;
  readonly isDevelopment: boolean;
}

const MAX_URL_LENGTH = 2_048;
/** Pages take no body. */
const MAX_PAGE_BODY_BYTES = 65_536;
const PAGE_METHODS = ["GET", "HEAD"];

/**
 * Receives every request of the process: rejects what no route accepts, serves the API by the route table and gives pages to
 * Next, and counts every answer.
 */
export class FrontDoor {
  readonly #open = new Set<ServerResponse>();
  readonly #options: FrontDoorOptions;
  #isClosing = false;
  #lastArrivalMs = Number.NEGATIVE_INFINITY;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
  }

  /** Requests without a complete answer. */
  get inFlight(): number {
    return this.#open.size;
  }

  /** Time since the last request arrived. */
  get quietForMs(): number {
    return performance.now() - this.#lastArrivalMs;
  }

  /** Rejects new requests from now on, and closes each connection with its current answer. */
  close(): void {
    this.#isClosing = true;
    for (const response of this.#open) if (!response.headersSent) response.shouldKeepAlive = false;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const startedMs = performance.now();
    this.#lastArrivalMs = startedMs;
    const requestId = requestIdOf(request.headers["x-request-id"]);
    request.headers["x-request-id"] = requestId;
    const match = matchRoute(request.url ?? "/");
    const client = clientAddress(request);
    let code: ErrorCode | null = null;
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
      noteAnswer({
        requestId,
        client,
        method: request.method ?? "GET",
        route: match.label,
        path: request.url ?? "/",
        status: response.writableFinished ? response.statusCode : CLIENT_CLOSED_STATUS,
        code,
        durationMs: performance.now() - startedMs,
        isStream: match.routes?.isStream === true,
      });
    });
    this.#answer(request, response, match).then((answered) => {
      code = answered;
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse, match: RouteMatch): Promise<ErrorCode | null> {
    try {
      return await this.#serve(request, response, match);
    } catch (error) {
      return answerError(request, response, error);
    }
  }

  #serve(request: IncomingMessage, response: ServerResponse, match: RouteMatch): Promise<ErrorCode | null> {
    guardHost(request.headers.host);
    if (this.#isClosing && match.label !== "/healthz" && match.label !== "/readyz") throw shuttingDown();
    guardUrl(request.url ?? "");
    if (match.kind === "api") return serveApi(request, response, { match, views: this.#options.views });
    return this.#servePage(request, response, match);
  }

  async #servePage(request: IncomingMessage, response: ServerResponse, match: RouteMatch): Promise<null> {
    guardPageRequest(request);
    if (match.kind === "page") this.#setPagePolicy(request, response);
    else for (const [name, value] of Object.entries(API_HEADERS)) response.setHeader(name, value);
    response.setHeader("x-request-id", String(request.headers["x-request-id"]));
    await this.#options.next(request, response);
    return null;
  }

  /** Next takes the nonce for its scripts from the policy in the request's headers: this one, never the client's. */
  #setPagePolicy(request: IncomingMessage, response: ServerResponse): void {
    const headers = pageHeaders(randomBytes(16).toString("base64"), this.#options.isDevelopment);
    request.headers["content-security-policy"] = headers["content-security-policy"];
    delete request.headers["content-security-policy-report-only"];
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  }
}

/** @throws HttpError for absolute URLs, `//host`, dot segments, broken percent-encoding and control characters */
function guardUrl(url: string): void {
  if (url.length > MAX_URL_LENGTH) throw invalidField("path", `must have at most ${MAX_URL_LENGTH} characters`);
  const path = url.split("?", 1)[0] ?? "";
  const decoded = decode(path);
  if (!path.startsWith("/") || path.includes("//") || DOT_SEGMENT.test(decoded))
    throw invalidField("path", "must be a plain path");
  if (hasForbiddenCharacter(decoded)) throw invalidField("path", "has characters that no path of the lab has");
}

const DOT_SEGMENT = /\/\.\.?(?:\/|$)/;
const [SPACE, DELETE, BACKSLASH] = [0x20, 0x7f, 0x5c];

function hasForbiddenCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < SPACE || unit === DELETE || unit === BACKSLASH) return true;
  }
  return false;
}

function decode(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw invalidField("path", "has a broken percent-encoding");
  }
}

function guardPageRequest({ method = "", headers }: IncomingMessage): void {
  if (!PAGE_METHODS.includes(method)) {
    const message = `Pages do not support ${method}. Use ${PAGE_METHODS.join(" or ")}.`;
    throw new HttpError({ code: "method_not_allowed", message, headers: { allow: PAGE_METHODS.join(", ") } });
  }
  if (Number(headers["content-length"] ?? 0) <= MAX_PAGE_BODY_BYTES) return;
  throw new HttpError({ code: "body_too_large", details: { field: "body" }, headers: { connection: "close" } });
}

function shuttingDown(): HttpError {
  return new HttpError({ code: "shutting_down", headers: { connection: "close" } });
}

/** Answers with the error, unless the client is gone or the answer has begun. */
function answerError(request: IncomingMessage, response: ServerResponse, error: unknown): ErrorCode | null {
  if (response.destroyed || request.socket.destroyed) return null;
  const requestId = headerOf(request.headers, "x-request-id");
  if (response.headersSent) {
    log().error({ requestId, err: error }, "the answer failed after its headers were sent");
    response.destroy();
    return null;
  }
  const answer = errorAnswer(toHttpError(error, requestId));
  send(request, response, answer);
  return answer.code;
}
