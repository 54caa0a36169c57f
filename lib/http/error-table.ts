/** One row per error code of the API. This is the only place that assigns a status, a default message and a Retry-After. */
interface ErrorRow {
  readonly status: number;
  /** Used when the thrower has nothing more specific to say. */
  readonly message: string;
  /** Absent: no Retry-After, because the same request fails again, or because the thrower knows a better value. */
  readonly retryAfterSeconds?: number;
}

export const errorTable = {
  invalid_fault: { status: 400, message: "The fault is not valid." },
  invalid_request: { status: 400, message: "The request is not valid." },
  too_many_buyers: { status: 400, message: "This machine cannot start that many buyers together." },
  too_many_nodes: { status: 400, message: "The lab has fewer store nodes than the run needs." },
  unknown_strategy: { status: 400, message: "The strategy does not exist. GET /api/strategies lists the valid ids." },

  admin_token_required: {
    status: 401,
    message: "Changing this lab requires the admin token. Send it as Authorization: Bearer.",
  },
  admin_token_wrong: { status: 401, message: "token: this is not the admin token." },
  buyer_required: { status: 401, message: "This route requires the buyer cookie. GET /api/buyer sets it." },

  payment_failed: { status: 402, message: "The payment failed." },

  buyer_mismatch: { status: 403, message: "userId: the request's cookie belongs to another buyer." },
  cross_site: { status: 403, message: "The request comes from another site. Only this lab's own pages may send it." },
  purchase_token_foreign: { status: 403, message: "purchaseToken: the token belongs to another buyer." },
  purchase_token_missing: { status: 403, message: "purchaseToken: this product requires a purchase token." },
  purchase_token_unknown: { status: 403, message: "purchaseToken: the token does not exist." },

  not_found: { status: 404, message: "Not found." },
  order_not_found: { status: 404, message: "You have no such order." },
  product_not_found: { status: 404, message: "The product does not exist." },
  run_not_found: { status: 404, message: "The run does not exist." },
  target_not_found: { status: 404, message: "The run's product or coupon does not exist." },

  method_not_allowed: { status: 405, message: "The route does not support this method." },
  request_timeout: { status: 408, message: "The request did not arrive completely in time. Send it again." },

  already_claimed: { status: 409, message: "You have already claimed this coupon." },
  engine_unavailable: { status: 409, message: "The load generator is not available." },
  fault_not_applicable: { status: 409, message: "The fault cannot be injected into this run." },
  idempotency_in_progress: {
    status: 409,
    message: "Idempotency-Key: another request with this key is still running. Retry with the same key.",
    retryAfterSeconds: 1,
  },
  limit_reached: { status: 409, message: "You have reached the limit per buyer." },
  lock_expires_by_itself: { status: 409, message: "The strategy's lock expires. It cannot be broken by hand." },
  no_histogram: { status: 409, message: "The run has no complete latency histogram. Its document has percentiles." },
  not_open: { status: 409, message: "The sale has not started yet. No stock was reserved." },
  order_expired: { status: 409, message: "The order has expired." },
  order_not_pending: { status: 409, message: "The order is not pending." },
  purchase_token_used: { status: 409, message: "purchaseToken: the token has already been used." },
  run_active: { status: 409, message: "Another run is active. Wait until it has finished." },
  run_closed: { status: 409, message: "The run is not open on this node." },
  run_not_running: { status: 409, message: "The run does not sell any more." },
  run_running: { status: 409, message: "The run is still running. Retry when it has ended." },
  sale_running: { status: 409, message: "A run is selling this product. Retry after the run." },
  sold_out: { status: 409, message: "Sold out." },
  sweep_active: { status: 409, message: "Another sweep is active. Wait until it ends, or cancel it." },
  strategy_unavailable: { status: 409, message: "The strategy is not available." },

  body_too_large: { status: 413, message: "body: it is too long." },
  unsupported_media_type: { status: 415, message: "content-type: must be application/json" },
  expectation_failed: { status: 417, message: "expect: this server supports 100-continue only" },
  host_not_allowed: { status: 421, message: "host: this is not a name of this lab." },
  idempotency_mismatch: { status: 422, message: "Idempotency-Key: this key was used for a different request." },
  rate_limited: { status: 429, message: "Too many requests. Retry later." },
  headers_too_large: { status: 431, message: "headers: they are too long." },

  internal_error: { status: 500, message: "The lab failed unexpectedly. Its log has the details." },

  aborted: { status: 503, message: "The request was aborted.", retryAfterSeconds: 1 },
  backend_unavailable: { status: 503, message: "A server does not respond. Retry.", retryAfterSeconds: 1 },
  contended: { status: 503, message: "Too many buyers at once. Retry.", retryAfterSeconds: 1 },
  fence_stale: { status: 503, message: "A newer lock holder wrote first. Retry.", retryAfterSeconds: 1 },
  lease_lost: { status: 503, message: "The lease expired before the write. Retry.", retryAfterSeconds: 1 },
  node_unavailable: { status: 503, message: "A store node does not respond. Retry.", retryAfterSeconds: 1 },
  overloaded: { status: 503, message: "Too many purchases are in flight. Retry.", retryAfterSeconds: 1 },
  too_many_streams: { status: 503, message: "Too many event streams are open. Retry.", retryAfterSeconds: 10 },
  shutting_down: {
    status: 503,
    message: "This node is shutting down. Retry: another node serves the request.",
    retryAfterSeconds: 1,
  },
  outcome_unknown: {
    status: 504,
    message: "The outcome is not known. Retry with the same Idempotency-Key.",
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof errorTable;

/** Status in logs and metrics for a client that closed its connection before the response. It is never sent. */
export const CLIENT_CLOSED_STATUS = 499;

export function errorRow(code: ErrorCode): ErrorRow {
  return errorTable[code];
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text);
}

/** True for a failure on the server's side. */
export function isServerError(status: number): boolean {
  return status >= errorTable.internal_error.status;
}

/** True if the state of the target, for example its stock, rules the request out. */
export function isConflict(status: number): boolean {
  return status === errorTable.sold_out.status;
}

/** True if the request did nothing and a retry may succeed. */
export function isRetryable(status: number): boolean {
  return status === errorTable.overloaded.status || status === errorTable.rate_limited.status;
}
