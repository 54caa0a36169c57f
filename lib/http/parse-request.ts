import type { z } from "zod";
import { HttpError, invalidField } from "./errors";
import { headerOf, type RawRequest } from "./raw-request";
import type { Route } from "./route";
import type { PathRoutes } from "./route-matcher";

/** Parses a request by its table entry. Each function throws an HttpError that names the first field that is not valid. */

const DEFAULT_MAX_BODY_BYTES = 65_536;
const JSON_TYPE = /^application\/json\s*(;|$)/i;

export function parseParams({ params }: Route, { paramNames }: PathRoutes, values: readonly string[]): object {
  const parsed: Record<string, unknown> = {};
  for (const [index, name] of paramNames.entries()) {
    const param = params?.[name];
    const value = param?.parse(decode(name, values[index] ?? "")) ?? null;
    if (value === null) throw invalidField(name, param?.rule ?? "is not valid");
    parsed[name] = value;
  }
  return parsed;
}

function decode(name: string, text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidField(name, "has a broken percent-encoding");
  }
}

export function parseQuery({ query }: Route, url: string): unknown {
  if (!query) return undefined;
  const queryAt = url.indexOf("?");
  const fields = new URLSearchParams(queryAt < 0 ? "" : url.slice(queryAt + 1));
  return parse(query, Object.fromEntries(fields));
}

export function checkHeaders({ headers }: Route, raw: RawRequest): void {
  if (!headers) return;
  for (const name in headers) {
    const value = headerOf(raw.headers, name);
    if (value === null) continue;
    const result = headers[name]?.schema.safeParse(value);
    if (result?.error) throw invalidField(name, result.error.issues[0]?.message ?? "is not valid");
  }
}

/** @returns the body's text; "" for a route without a body */
export async function readBody({ body, maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: Route, raw: RawRequest) {
  if (!body) return "";
  const text = await raw.readBody(maxBodyBytes);
  if (text === null) {
    const message = `body: must have at most ${maxBodyBytes} bytes`;
    throw new HttpError({ code: "body_too_large", message, details: { field: "body" } });
  }
  if (!JSON_TYPE.test(raw.headers["content-type"] ?? "")) {
    throw new HttpError({ code: "unsupported_media_type", details: { field: "content-type" } });
  }
  return text;
}

export function parseBody({ body }: Route, text: string): unknown {
  if (!body) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField("body", "must be JSON");
  }
  return parse(body, value);
}

function parse(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === "unrecognized_keys") {
    throw invalidField(issue.keys[0] ?? "body", "is not a field of this request");
  }
  throw invalidField(issue?.path.join(".") || "body", issue?.message ?? "is not valid");
}
