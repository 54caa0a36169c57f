import type { IncomingHttpHeaders } from "node:http";

/** A request before parsing. `node-adapter.ts` implements it for node:http, `next-route.ts` for Next's route handlers. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The IP address of the client (client-address.ts); empty if it is not known. */
  readonly address: string;
  /** @returns the whole body, or null if it is longer than the limit */
  readBody(limitBytes: number): Promise<string | null>;
  /** Aborts when the client closes the connection. */
  closeSignal(): AbortSignal;
}

/** The header's value. Null if it is absent or was sent several times. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" ? value : null;
}
