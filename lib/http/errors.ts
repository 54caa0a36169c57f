import { isLockError, type LockErrorCode } from "../locks/errors";
import { log } from "../services/log";
import { isShopError, SHOP_REFUSALS, type ShopErrorOptions } from "../shop/shop-error";
import { currentRequest } from "./request-context";

/** The one error shape of every route. */
export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

export interface HttpErrorOptions {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An error with the answer it deserves. Test `name`, not `instanceof`: the class exists once a bundle. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  constructor(readonly options: HttpErrorOptions) {
    super(options.message);
  }
}

export function isHttpError(error: unknown): error is HttpError {
  return error instanceof Error && error.name === "HttpError" && "options" in error;
}

/** 400 that names the field. */
export function invalidField(field: string, message: string): HttpError {
  return new HttpError({ status: 400, code: "invalid_request", message: `${field}: ${message}`, details: { field } });
}

export function notFound(what: string): HttpError {
  return new HttpError({ status: 404, code: "not_found", message: `There is no ${what}.` });
}

/** What each lock error means to a caller; `Retry-After` where trying again makes sense. */
const lockErrorStatus: Record<LockErrorCode, { status: number; code: string; retryAfterSeconds?: number }> = {
  config_invalid: { status: 503, code: "backend_unavailable" },
  backend_unavailable: { status: 503, code: "backend_unavailable", retryAfterSeconds: 1 },
  quorum_failed: { status: 503, code: "backend_unavailable", retryAfterSeconds: 1 },
  lease_lost: { status: 503, code: "lease_lost", retryAfterSeconds: 1 },
  fence_stale: { status: 503, code: "fence_stale", retryAfterSeconds: 1 },
  outcome_unknown: { status: 504, code: "outcome_unknown" },
  aborted: { status: 503, code: "aborted", retryAfterSeconds: 1 },
};

/** Turns whatever was thrown into an answer. Unexpected errors are logged and say nothing of the inside. */
export function toHttpError(error: unknown): HttpError {
  if (isHttpError(error)) return error;
  if (isShopError(error)) return fromShopError(error.options);
  const cause = error instanceof Error && isLockError(error.cause) ? error.cause : error;
  if (isLockError(cause)) {
    const { status, code, retryAfterSeconds } = lockErrorStatus[cause.code];
    return new HttpError({
      status,
      code,
      message: cause.message,
      details: { reason: cause.code, ...(cause.votes ? { votes: cause.votes } : {}) },
      headers: retryAfterSeconds ? { "retry-after": String(retryAfterSeconds) } : undefined,
    });
  }
  log().error({ requestId: currentRequest()?.requestId, err: error }, "unexpected error");
  return new HttpError({ status: 500, code: "internal_error", message: "Something went wrong inside the lab." });
}

function fromShopError({ code, message, details, retryAfterSeconds }: ShopErrorOptions): HttpError {
  const headers = retryAfterSeconds ? { "retry-after": String(retryAfterSeconds) } : undefined;
  return new HttpError({ status: SHOP_REFUSALS[code], code, message, details, headers });
}

export function errorBody({ code, message, details }: HttpErrorOptions): ErrorBody {
  return { error: details ? { code, message, details } : { code, message } };
}
