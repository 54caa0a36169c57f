/**
 * An order starts as `pending`; the other statuses are final. Every transition is one statement,
 * `UPDATE ... WHERE status = 'pending'`, so exactly one of several concurrent transitions succeeds
 * (lib/stock/order-sql.ts, lib/stock/release-sql.ts, pay-order.ts).
 */
export const ORDER_STATUSES = ["pending", "paid", "cancelled", "expired"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];
