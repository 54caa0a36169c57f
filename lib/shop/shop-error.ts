/** Why the shop rejects a request, with the HTTP status of each code. A rejected request changes no order and no stock. */
export const SHOP_REFUSALS = {
  not_open: 409,
  limit_reached: 409,
  sold_out: 409,
  purchase_token_missing: 403,
  purchase_token_unknown: 403,
  purchase_token_foreign: 403,
  purchase_token_used: 409,
  buyer_mismatch: 403,
  buyer_required: 401,
  idempotency_mismatch: 422,
  idempotency_in_progress: 409,
  order_not_found: 404,
  product_not_found: 404,
  order_not_pending: 409,
  order_expired: 409,
  payment_failed: 402,
  sale_running: 409,
  contended: 503,
  lock_expires_by_itself: 409,
} as const;

export type ShopRefusal = keyof typeof SHOP_REFUSALS;

export interface ShopErrorOptions {
  readonly code: ShopRefusal;
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
