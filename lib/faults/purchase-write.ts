/** The write of a purchase in PostgreSQL's wire format: its message names the prepared statement. */
export const PURCHASE_WRITE = /(?:product|coupon)_(?:write|take)[A-Z]/;
