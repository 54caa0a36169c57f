import type { ErrorCode } from "../error-table";

/** Codes of a purchase under any strategy. */
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

/** Codes of paying and cancelling. */
export const orderActionErrors: readonly ErrorCode[] = [
  "buyer_required",
  "order_not_found",
  "order_not_pending",
  "order_expired",
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
