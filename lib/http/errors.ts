import { isLockError, type LockError, type LockErrorCode } from "../locks/errors";
import { isLabError } from "../runs/lab-error";
import { log } from "../services/log";
import { isLostDatabase } from "../services/lost-database";
import { isShopError } from "../shop/shop-error";
import { type ErrorCode, errorRow } from "./error-table";

export interface HttpErrorOptions {
  readonly code: ErrorCode;
  /** Absent: the error table's. */
  readonly message?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Absent: the error table's. 0: no Retry-After. */
  readonly retryAfterSeconds?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An error that the API answers with its code. Test `name`, not `instanceof`: each bundle has its own copy of the class. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: ErrorCode;
  readonly details: HttpErrorOptions["details"];
  readonly retryAfterSeconds: number | undefined;
  readonly headers: HttpErrorOptions["headers"];

  constructor({ code, message, details, retryAfterSeconds, headers }: HttpErrorOptions) {
    super(message ?? errorRow(code).message);
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = headers;
  }
}

export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError" && "code" in error;
}

/** `invalid_request` that names the field. */
export function invalidField(field: string, message: string): HttpError {
  return new HttpError({ code: "invalid_request", message: `${field}: ${message}`, details: { field } });
}

export function notFound(what: string): HttpError {
  return new HttpError({ code: "not_found", message: `There is no ${what}.` });
}

const codeOfLockError: Readonly<Record<LockErrorCode, ErrorCode>> = {
  config_invalid: "backend_unavailable",
  backend_unavailable: "backend_unavailable",
  quorum_failed: "backend_unavailable",
  lease_lost: "lease_lost",
  fence_stale: "fence_stale",
  outcome_unknown: "outcome_unknown",
  aborted: "aborted",
};

/** Converts any thrown value. An unexpected error goes to the log, and the answer says nothing of the lab's inside. */
export function toHttpError(error: unknown, requestId: string | null): HttpError {
  if (isHttpError(error)) return error;
  if (isShopError(error)) return new HttpError(error.options);
  if (isLabError(error)) return new HttpError({ code: error.code, message: error.message, details: error.details });
  const cause = error instanceof Error && isLockError(error.cause) ? error.cause : error;
  if (isLockError(cause)) return fromLockError(cause);
  if (isLostDatabase(error)) {
    return new HttpError({ code: "backend_unavailable", message: "PostgreSQL does not respond. Retry." });
  }
  log().error({ requestId, err: error }, "unexpected error");
  return new HttpError({ code: "internal_error" });
}

function fromLockError({ code, message, votes }: LockError): HttpError {
  return new HttpError({
    code: codeOfLockError[code],
    message,
    details: { reason: code, ...(votes ? { votes } : {}) },
    // A retry does not repair a configuration.
    retryAfterSeconds: code === "config_invalid" ? 0 : undefined,
  });
}
