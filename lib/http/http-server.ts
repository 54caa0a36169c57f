import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { errorBody } from "./errors";
import { API_HEADERS } from "./security-headers";

/**
 * What a connection may take: a request that does not come, or comes by the byte, is cut off by the clock, and headers
 * have a size. Node's own defaults are a minute for headers and five for a request.
 */
const LIMITS = {
  maxHeaderSize: 8_192,
  headersTimeout: 15_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2_000,
  // Longer than that of the proxy in front (60 s), so that the proxy is the one that closes.
  keepAliveTimeout: 65_000,
  // Answered by the front door, in the one error shape.
  requireHostHeader: false,
};

export function createHttpServer(handle: RequestListener, limits: Partial<typeof LIMITS> = {}): Server {
  const server = createServer({ ...LIMITS, ...limits }, handle);
  server.maxHeadersCount = 100;
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(socket, error.code ?? ""));
  server.on("checkExpectation", (_request, response) => {
    const body = JSON.stringify(refusal("expectation_failed", "expect: no expectation but 100-continue is met"));
    response.writeHead(417, { ...headers, "content-length": Buffer.byteLength(body), connection: "close" }).end(body);
  });
  return server;
}

const headers = { ...API_HEADERS, "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

const refusals: Readonly<Record<string, { status: number; code: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "headers_too_large",
    message: `headers: longer than ${LIMITS.maxHeaderSize} bytes`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: "request_timeout", message: "The request did not come in time." },
};

/** For bytes that are no request: there is no response object, so the answer is written by hand. */
function refuse(socket: Duplex, errorCode: string): void {
  if (!socket.writable || errorCode === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, code, message } = refusals[errorCode] ?? {
    status: 400,
    code: "invalid_request",
    message: "request: this is not HTTP/1.1",
  };
  const body = JSON.stringify(refusal(code, message));
  const all = { ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
}

function refusal(code: string, message: string) {
  return errorBody({ status: 0, code, message });
}
