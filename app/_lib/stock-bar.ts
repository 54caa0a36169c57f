/** Widths in the stock bar: orders within the stock, orders beyond it, and the stock mark. */
export interface StockBarShares {
  /** Percent of the bar's width. */
  readonly sold: number;
  readonly beyond: number;
  /** Position of the stock mark, percent from the left. */
  readonly end: number;
}

/** The bar extends past the stock mark, so that both an exact sell-out and an oversell are visible. */
const ROOM_BEYOND = 1.25;

export function stockBarShares(initial: number, orders: number): StockBarShares {
  const domain = Math.max(initial * ROOM_BEYOND, orders, 1);
  const percent = (units: number) => Math.round((units / domain) * 10_000) / 100;
  return {
    sold: percent(Math.min(orders, initial)),
    beyond: percent(Math.max(0, orders - initial)),
    end: percent(initial),
  };
}
