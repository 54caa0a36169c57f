/** Why the shop rejects a request. A rejected request changes no order and no stock. lib/http assigns the HTTP statuses. */
export type ShopErrorCode =
  | "not_open"
  | "limit_reached"
  | "sold_out"
  | "purchase_token_missing"
  | "purchase_token_unknown"
  | "purchase_token_foreign"
  | "purchase_token_used"
  | "idempotency_mismatch"
  | "idempotency_in_progress"
  | "order_not_found"
  | "product_not_found"
  | "order_not_pending"
  | "order_expired"
  | "payment_failed"
  | "sale_running"
  | "contended"
  | "lock_expires_by_itself";

export interface ShopErrorOptions {
  readonly code: ShopErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number;
}

/** Compare `name` instead of using `instanceof`: every bundle has its own copy of the class. */
export class ShopError extends Error {
  override readonly name = "ShopError";
  constructor(readonly options: ShopErrorOptions) {
    super(options.message);
  }
}

export function isShopError(error: unknown): error is ShopError {
  return error instanceof Error && error.name === "ShopError" && "options" in error;
}
