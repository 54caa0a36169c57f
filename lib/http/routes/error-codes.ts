/** Every error code of the API and the status it comes with. One code, one status. */
export const errorCodes = {
  invalid_fault: 400,
  invalid_request: 400,
  too_many_nodes: 400,
  unknown_strategy: 400,
  admin_token_required: 401,
  admin_token_wrong: 401,
  buyer_required: 401,
  buyer_mismatch: 403,
  cross_site: 403,
  purchase_token_foreign: 403,
  purchase_token_missing: 403,
  purchase_token_unknown: 403,
  not_found: 404,
  order_not_found: 404,
  product_not_found: 404,
  run_not_found: 404,
  target_not_found: 404,
  method_not_allowed: 405,
  payment_failed: 402,
  already_claimed: 409,
  engine_unavailable: 409,
  fault_not_applicable: 409,
  idempotency_in_progress: 409,
  limit_reached: 409,
  lock_expires_by_itself: 409,
  no_histogram: 409,
  not_open: 409,
  order_expired: 409,
  order_not_pending: 409,
  purchase_token_used: 409,
  run_active: 409,
  run_closed: 409,
  run_running: 409,
  sale_running: 409,
  sold_out: 409,
  strategy_unavailable: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  host_not_allowed: 421,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  aborted: 503,
  backend_unavailable: 503,
  contended: 503,
  fence_stale: 503,
  lease_lost: 503,
  node_unavailable: 503,
  overloaded: 503,
  shutting_down: 503,
  outcome_unknown: 504,
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** What any route may answer. An `internal_error` is a defect of the lab, and declared so that clients meet it prepared. */
export const commonErrors: readonly ErrorCode[] = [
  "invalid_request",
  "not_found",
  "method_not_allowed",
  "host_not_allowed",
  "internal_error",
  "backend_unavailable",
  "shutting_down",
];

/** What a route with a body may answer besides. */
export const bodyErrors: readonly ErrorCode[] = ["body_too_large", "unsupported_media_type"];

/** What a route that changes the lab may answer besides. */
export const adminErrors: readonly ErrorCode[] = ["admin_token_required", "cross_site"];

/** What a purchase may be refused with, under any strategy. */
export const purchaseErrors: readonly ErrorCode[] = [
  "sold_out",
  "run_closed",
  "not_open",
  "buyer_mismatch",
  "idempotency_mismatch",
  "idempotency_in_progress",
  "rate_limited",
  "overloaded",
  "contended",
  "lease_lost",
  "fence_stale",
  "aborted",
  "outcome_unknown",
];
