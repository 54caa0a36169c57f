import { formatCount, plural } from "./format";
import type { Figures } from "./run-view";

/** The verdict line while a sale runs: one short sentence. */
export function runningText(figures: Figures): string {
  const { orders, initial, oversold } = figures;
  if (oversold > 0) {
    return `Oversold already: ${plural(orders, "order")} for ${plural(initial, "unit")}, and the sale is still running.`;
  }
  if (orders === 0) return "No orders yet.";
  if (orders >= initial)
    return `All ${plural(initial, "unit")} are sold; the remaining buyers get a sold-out response.`;
  return `${formatCount(orders)} of ${plural(initial, "unit")} sold so far.`;
}
