import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { errorAnswer } from "./answer";
import type { ErrorCode } from "./error-table";
import { HttpError } from "./errors";
import { API_HEADERS } from "./security-headers";

/**
 * Limits per connection: slow requests time out and headers have a maximum size. Node's own defaults are 60 s for the headers
 * and 300 s for the request.
 */
const LIMITS = {
  maxHeaderSize: 8_192,
  headersTimeout: 15_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2_000,
  // Longer than that of the proxy in front (60 s), so that the proxy closes the connection.
  keepAliveTimeout: 65_000,
  // The front door checks the host and answers in the API's error shape.
  requireHostHeader: false,
};

const MAX_HEADERS = 100;
/** A rejected client has this long to read its answer and close. A half-open connection would stay for ever. */
const LINGER_MS = 1_000;

export function createHttpServer(handle: RequestListener, limits: Partial<typeof LIMITS> = {}): Server {
  const server = createServer({ ...LIMITS, ...limits }, (request, response) => {
    if (request.rawHeaders.length > 2 * MAX_HEADERS) rejectHeaders(request, response);
    else handle(request, response);
  });
  // With a limit Node drops the headers beyond it, and the guards would not see them. Their size has a limit.
  server.maxHeadersCount = 0;
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => rejectBytes(socket, error.code ?? ""));
  server.on("checkExpectation", (_request, response) => {
    const { status, headers, body } = rejection("expectation_failed");
    response.writeHead(status, headers).end(body);
  });
  return server;
}

function rejection(code: ErrorCode, message?: string) {
  const { status, headers, body } = errorAnswer(new HttpError({ code, message }));
  const length = String(Buffer.byteLength(body));
  return { status, headers: { ...API_HEADERS, ...headers, "content-length": length, connection: "close" }, body };
}

function rejectHeaders(request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = rejection("headers_too_large", `headers: must be at most ${MAX_HEADERS}`);
  request.resume();
  response.writeHead(status, headers).end(body);
}

function rejectionOf(errorCode: string) {
  switch (errorCode) {
    case "HPE_HEADER_OVERFLOW":
      return rejection("headers_too_large", `headers: must have at most ${LIMITS.maxHeaderSize} bytes`);
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return rejection("request_timeout");
    default:
      return rejection("invalid_request", "request: this is not HTTP/1.1");
  }
}

/** Bytes that are not a request have no response object, so this writes the answer to the socket. */
function rejectBytes(socket: Duplex, errorCode: string): void {
  if (!socket.writable || errorCode === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
  const { status, headers, body } = rejectionOf(errorCode);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
}
