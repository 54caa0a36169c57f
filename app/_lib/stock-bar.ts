/** The stock bar: how much of its width is promised stock sold, how much was promised to nobody, and where stock ends. */
export interface StockBarShares {
  /** Percent of the bar's width. */
  readonly sold: number;
  readonly beyond: number;
  /** Where the stock ends, percent from the left. */
  readonly end: number;
}

/** Room kept past the end of the stock, so that running past it is seen and stopping at it too. */
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
