import { formatCount, plural } from "./format";
import type { Figures } from "./run-view";

/** What to say while a sale runs, in a sentence that stays short. */
export function runningText(figures: Figures): string {
  const { orders, initial, oversold } = figures;
  if (oversold > 0) {
    return `Oversold already: ${plural(orders, "order")} for ${plural(initial, "unit")}, and buyers are still coming.`;
  }
  if (orders === 0) return "The buyers are taking their places; they start together.";
  if (orders >= initial)
    return `All ${plural(initial, "unit")} are sold; the rest of the buyers are being turned away.`;
  return `${formatCount(orders)} of ${plural(initial, "unit")} sold so far.`;
}
