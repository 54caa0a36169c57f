import type { History } from "../history";

/** The units of a sale, from the run line and the database. */
export interface Balance {
  readonly initial: number;
  readonly final: number;
  /** Units, not rows. */
  readonly ordered: number;
  /** initial - final. */
  readonly taken: number;
}

/** Null if the initial stock, the final stock or the orders are unknown. O(n). */
export function balanceOf({ run, end }: History): Balance | null {
  if (!run || !end) return null;
  const ordered = end.orders.reduce((sum, order) => sum + order.quantity, 0);
  return {
    initial: run.initial,
    final: end.final,
    ordered,
    taken: run.initial - end.final,
  };
}
