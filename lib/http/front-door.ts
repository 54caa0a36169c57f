import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { log } from "../services/log";
import { errorBody, HttpError, invalidField, toHttpError } from "./errors";
import { guardHost } from "./host-guard";
import { answerAheadOfNext, errorCodeOf, send } from "./node-adapter";
import { requestIdOf, withRequest } from "./request-context";
import { noteAnswer } from "./request-log";
import { matchRoute, type RouteMatch } from "./routes/match";
import { API_HEADERS, pageHeaders } from "./security-headers";

/** Every request of the process comes in here: what is refused for all routes alike, and what is noted of all. */

export type NextHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface FrontDoorOptions {
  readonly next: NextHandler;
  readonly isDevelopment: boolean;
}

const MAX_URL_LENGTH = 2_048;
const MAX_NEXT_BODY_BYTES = 65_536;
const CLIENT_LEFT = 499;

export class FrontDoor {
  readonly #open = new Set<ServerResponse>();
  readonly #options: FrontDoorOptions;
  #isClosing = false;
  #lastArrivalMs = Number.NEGATIVE_INFINITY;

  constructor(options: FrontDoorOptions) {
    this.#options = options;
  }

  /** Requests that have no whole answer yet. */
  get inFlight(): number {
    return this.#open.size;
  }

  /** How long nobody has asked for anything. */
  get quietForMs(): number {
    return performance.now() - this.#lastArrivalMs;
  }

  /** From now on new requests are refused, and connections end with the answers that are under way. */
  close(): void {
    this.#isClosing = true;
    for (const response of this.#open) if (!response.headersSent) response.shouldKeepAlive = false;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const startedMs = performance.now();
    this.#lastArrivalMs = startedMs;
    const requestId = requestIdOf(request.headers["x-request-id"]);
    request.headers["x-request-id"] = requestId;
    const route = matchRoute(request.url ?? "/");
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
      noteAnswer({
        requestId,
        method: request.method ?? "GET",
        route: route.label,
        path: request.url ?? "/",
        status: response.writableFinished ? response.statusCode : CLIENT_LEFT,
        code: errorCodeOf(response),
        durationMs: performance.now() - startedMs,
        isStream: route.isStream,
      });
    });
    this.#answer(request, response, route).catch((error: unknown) => giveUp(request, response, error));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, route: RouteMatch): Promise<void> {
    guardHost(request.headers.host);
    if (this.#isClosing && route.label !== "/healthz" && route.label !== "/readyz") throw shuttingDown();
    guardUrl(request.url ?? "");
    if (route.allows !== null && !route.allows.includes(request.method ?? "")) {
      if (answerOptions(request, response, route.allows)) return;
      throw methodNotAllowed(request.method ?? "", route.allows);
    }
    if (await answerAheadOfNext(request, response)) return;
    guardBody(request);
    const headers = route.isPage ? this.#admitToPage(request) : admitToApi(request);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const requestId = String(request.headers["x-request-id"]);
    response.setHeader("x-request-id", requestId);
    await withRequest({ requestId }, () => this.#options.next(request, response));
  }

  /** Next takes the nonce for its scripts from the policy it finds in the request: ours, never the client's. */
  #admitToPage(request: IncomingMessage): Readonly<Record<string, string>> {
    const headers = pageHeaders(randomBytes(16).toString("base64"), this.#options.isDevelopment);
    request.headers["content-security-policy"] = headers["content-security-policy"];
    delete request.headers["content-security-policy-report-only"];
    return headers;
  }
}

/** Headers by which Next's own pages talk to Next: with them, its router answers in the place of a route handler. */
const ROUTER_HEADERS = /^(rsc$|next-|x-middleware-|x-nextjs-|x-invoke-|x-matched-path$)/;

function admitToApi(request: IncomingMessage): Readonly<Record<string, string>> {
  for (const name of Object.keys(request.headers)) if (ROUTER_HEADERS.test(name)) delete request.headers[name];
  return API_HEADERS;
}

/** @throws HttpError 400 for what is no path: forms for proxies, `//host`, broken encoding, control characters */
function guardUrl(url: string): void {
  if (url.length > MAX_URL_LENGTH) throw invalidField("path", `is longer than ${MAX_URL_LENGTH} characters`);
  const path = url.split("?", 1)[0] ?? "";
  const decoded = decode(path);
  const segments = decoded.split("/");
  if (!path.startsWith("/") || path.includes("//") || segments.includes("..") || segments.includes("."))
    throw invalidField("path", "is not a plain path");
  if ([...decoded].some((letter) => letter < " " || letter === "\x7f" || letter === "\\"))
    throw invalidField("path", "has characters that no path of the lab has");
}

function decode(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw invalidField("path", "has a broken percent-encoding");
  }
}

/** Routes of Next count what they read; what says itself that it is too long is not read at all. */
function guardBody(request: IncomingMessage): void {
  if (Number(request.headers["content-length"] ?? 0) <= MAX_NEXT_BODY_BYTES) return;
  throw new HttpError({
    status: 413,
    code: "body_too_large",
    message: `body: longer than ${MAX_NEXT_BODY_BYTES} bytes`,
    details: { field: "body" },
    headers: { connection: "close" },
  });
}

function answerOptions(request: IncomingMessage, response: ServerResponse, allows: readonly string[]): boolean {
  if (request.method !== "OPTIONS") return false;
  send(request, response, { status: 204, headers: { allow: [...allows, "OPTIONS"].join(", ") }, body: "" });
  return true;
}

function methodNotAllowed(method: string, allows: readonly string[]): HttpError {
  const message = `${method} is not allowed here; use ${allows.join(" or ")}.`;
  return new HttpError({ status: 405, code: "method_not_allowed", message, headers: { allow: allows.join(", ") } });
}

function shuttingDown(): HttpError {
  return new HttpError({
    status: 503,
    code: "shutting_down",
    message: "This node is shutting down and takes no new requests; another one will.",
    headers: { "retry-after": "1", connection: "close" },
  });
}

/** Whatever was thrown becomes an answer in the one error shape, unless its client has left. */
function giveUp(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.destroyed || request.socket.destroyed) return;
  if (response.headersSent) {
    log().error({ requestId: request.headers["x-request-id"], err: error }, "an answer broke off");
    response.destroy();
    return;
  }
  const { options } = toHttpError(error);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    ...options.headers,
  };
  send(request, response, { status: options.status, headers, body: JSON.stringify(errorBody(options)) });
}
