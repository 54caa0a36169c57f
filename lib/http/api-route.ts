import type { z } from "zod";
import { isLabError, type LabErrorCode } from "../runs/lab-error";
import { guardAdmin, type RequestOrigin } from "./admin-guard";
import { errorBody, HttpError, invalidField, toHttpError } from "./errors";
import { fromIssues } from "./hot-path";

/** What every Next route handler of the lab shares: one error shape, one guard, one way to read a body. */

const statusOf: Record<LabErrorCode, number> = {
  run_active: 409,
  run_not_found: 404,
  unknown_strategy: 400,
  strategy_unavailable: 409,
  target_not_found: 404,
  engine_unavailable: 409,
  node_unavailable: 503,
  too_many_nodes: 400,
  invalid_fault: 400,
  fault_not_applicable: 409,
};

type Answer = Response | object;

/** Runs a handler and turns whatever it throws into the one error shape. */
export async function apiRoute(handler: () => Promise<Answer>): Promise<Response> {
  try {
    const answer = await handler();
    return answer instanceof Response ? answer : Response.json(answer, { headers: { "cache-control": "no-store" } });
  } catch (error) {
    const { options } = toHttpError(isLabError(error) ? fromLabError(error) : databaseError(error));
    return Response.json(errorBody(options), {
      status: options.status,
      headers: { "cache-control": "no-store", ...options.headers },
    });
  }
}

/** For routes that change the lab. @throws HttpError 401, 403 */
export function requireAdmin(request: Request): void {
  guardAdmin(originOf(request));
}

export function originOf(request: Request): RequestOrigin {
  const header = (name: string) => request.headers.get(name);
  return {
    host: header("host"),
    origin: header("origin"),
    secFetchSite: header("sec-fetch-site"),
    authorization: header("authorization"),
    cookie: header("cookie"),
  };
}

const MAX_BODY_BYTES = 65_536;

/** Reads and checks a query. @throws HttpError 400 that names the field */
export function readQuery<T>(request: Request, schema: z.ZodType<T>): T {
  const result = schema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
  if (!result.success) throw fromIssues(result.error.issues);
  return result.data;
}

/** Reads and checks a JSON body. @throws HttpError 400, 413, 415 that names the field */
export async function readJson<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    const message = "content-type: must be application/json";
    throw new HttpError({ status: 415, code: "unsupported_media_type", message, details: { field: "content-type" } });
  }
  const text = await readText(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField("body", "is not JSON");
  }
  const result = schema.safeParse(value);
  if (!result.success) throw fromIssues(result.error.issues);
  return result.data;
}

/** @throws HttpError 413 as soon as there is more than there may be: a body without a length is never read whole */
export async function readText(request: Request, limitBytes = MAX_BODY_BYTES): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limitBytes) {
      const message = `body: longer than ${limitBytes} bytes`;
      throw new HttpError({ status: 413, code: "body_too_large", message, details: { field: "body" } });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function fromLabError({
  code,
  message,
  details,
}: {
  code: LabErrorCode;
  message: string;
  details?: object | undefined;
}) {
  return new HttpError({
    status: statusOf[code],
    code,
    message,
    details: details as Record<string, unknown> | undefined,
    headers: statusOf[code] === 503 ? { "retry-after": "1" } : undefined,
  });
}

/** A database that is away is a 503, not a fault of the lab. */
function databaseError(error: unknown): unknown {
  const text = error instanceof Error ? `${error.message} ${(error as { code?: string }).code ?? ""}` : "";
  if (!/ECONNREFUSED|ECONNRESET|ETIMEDOUT|timeout|terminat|DatabaseNotReachable|P1001|P1017|P2024/i.test(text))
    return error;
  return new HttpError({
    status: 503,
    code: "backend_unavailable",
    message: "PostgreSQL does not answer.",
    headers: { "retry-after": "1" },
  });
}
