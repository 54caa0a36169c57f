import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Answer, StreamedAnswer } from "./answer";
import { dispatch } from "./dispatch";
import type { RawRequest } from "./raw-request";
import { matchRoute } from "./route-matcher";
import { routes } from "./route-table";
import type { RunViews } from "./run-views";

/**
 * Connects Next's route handlers to the route table, so that `next dev` and `next start` serve the API too. `server.ts` serves
 * the API without Next.
 */

export type NextHandlers = Readonly<Record<"DELETE" | "GET" | "PATCH" | "POST" | "PUT", NextHandler>>;
type NextHandler = (request: Request) => Promise<Response>;

/** Path of the route file that takes every request that no other file takes. */
export const CATCH_ALL = "/api/{...path}";

/** @returns a function that makes the handlers of the route file of a path */
export function nextRoutes(views: RunViews): (path: string) => NextHandlers {
  const handle: NextHandler = async (request) => {
    const { pathname, search } = new URL(request.url);
    return toResponse(await dispatch(new WebRequest(request, `${pathname}${search}`), matchRoute(pathname), views));
  };
  const handlers = { DELETE: handle, GET: handle, PATCH: handle, POST: handle, PUT: handle };
  return (path) => {
    if (path !== CATCH_ALL && !routes.some((route) => route.path === path)) {
      throw new TypeError(`${path} is not in the route table (lib/http/route-table.ts)`);
    }
    return handlers;
  };
}

class WebRequest implements RawRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly address = "";
  readonly #request: Request;

  constructor(
    request: Request,
    readonly url: string,
  ) {
    this.method = request.method;
    this.headers = Object.fromEntries(request.headers);
    this.#request = request;
  }

  async readBody(limitBytes: number): Promise<string | null> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (this.#request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limitBytes) return null;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  closeSignal(): AbortSignal {
    return this.#request.signal;
  }
}

function toResponse(answer: Answer): Response {
  const { status, headers } = answer;
  const body = "body" in answer ? answer.body : (Readable.toWeb(Readable.from(bytesOf(answer))) as ReadableStream);
  return new Response(isWithoutBody(status) ? null : body, { status, headers });
}

async function* bytesOf({ chunks }: StreamedAnswer): AsyncGenerator<Uint8Array> {
  for await (const text of chunks) yield Buffer.from(text);
}

/** For OPTIONS. `Response` rejects even an empty body with this status. */
function isWithoutBody(status: number): boolean {
  return status === 204;
}
