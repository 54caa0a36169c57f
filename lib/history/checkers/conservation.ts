import type { History } from "../history";

/** Where the units of a sale went, as far as the database says. */
export interface Balance {
  readonly initial: number;
  readonly final: number;
  /** Units in orders, not rows. */
  readonly ordered: number;
  /** How far the stock went down. */
  readonly taken: number;
  /** The stock, or the counter beside it where that is lower: units below it nobody can buy any more. */
  readonly lowest: number;
}

/** initial - final = orders, or something was lost. Null where initial, final or orders are not known. O(n). */
export function balanceOf({ run, end }: History): Balance | null {
  if (!run || !end) return null;
  const ordered = end.orders.reduce((sum, order) => sum + order.quantity, 0);
  return {
    initial: run.initial,
    final: end.final,
    ordered,
    taken: run.initial - end.final,
    lowest: Math.min(end.final, end.counter ?? end.final),
  };
}
