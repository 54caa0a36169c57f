import { type ErrorCode, errorRow, isErrorCode } from "./error-table";
import type { HttpErrorOptions } from "./errors";

/** What a handler returns and the front door writes. */
export type Answer = WholeAnswer | StreamedAnswer;

export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Null: the answer is not an error. */
  readonly code: ErrorCode | null;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: Iterable<string> | AsyncIterable<string>;
  readonly code: null;
}

export const JSON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
} as const;

/** Carries an error's code to the process that forwards the answer, so that it need not parse the body. */
export const ERROR_CODE_HEADER = "x-error-code";

export function json(body: object | null, init: Partial<Pick<WholeAnswer, "status" | "headers">> = {}): WholeAnswer {
  const headers = init.headers ? { ...JSON_HEADERS, ...init.headers } : JSON_HEADERS;
  return { status: init.status ?? 200, headers, body: JSON.stringify(body), code: null };
}

/**
 * Takes an HttpError or its options: most purchases of a sale are rejected, and an error object costs a stack trace.
 * @param routeHeaders headers that every answer of the route has
 */
export function errorAnswer(error: HttpErrorOptions, routeHeaders?: Readonly<Record<string, string>>): WholeAnswer {
  const { code, details } = error;
  const row = errorRow(code);
  const message = error.message ?? row.message;
  const retryAfter = error.retryAfterSeconds ?? row.retryAfterSeconds ?? 0;
  const headers: Record<string, string> = { ...JSON_HEADERS, ...routeHeaders, ...error.headers };
  headers[ERROR_CODE_HEADER] = code;
  if (retryAfter > 0) headers["retry-after"] = String(retryAfter);
  const body = JSON.stringify({ error: details ? { code, message, details } : { code, message } });
  return { status: row.status, headers, body, code };
}

/** Gives an answer that was stored, or that another process wrote, its code back. */
export function withCode(answer: Omit<WholeAnswer, "code">): WholeAnswer {
  const code = answer.headers[ERROR_CODE_HEADER] ?? "";
  return { ...answer, code: isErrorCode(code) ? code : null };
}
