/**
 * What an order may become. Every transition is one guarded statement, `UPDATE ... WHERE status = 'pending'`, so that of two
 * who want different things of one order exactly one has it (lib/stock/order-sql.ts, lib/stock/release-sql.ts, orders.ts).
 */

export const ORDER_STATUSES = ["pending", "paid", "cancelled", "expired"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

const followers: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: ["paid", "cancelled", "expired"],
  paid: [],
  cancelled: [],
  expired: [],
};

export function mayBecome(from: OrderStatus, to: OrderStatus): boolean {
  return followers[from].includes(to);
}

/** Nothing follows: its units are sold for good, or back. */
export function isFinal(status: OrderStatus): boolean {
  return followers[status].length === 0;
}

/** Whether its units count for the buyer's limit. */
export function isLive(status: OrderStatus): boolean {
  return status === "pending" || status === "paid";
}
