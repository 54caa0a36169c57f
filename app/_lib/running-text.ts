import type { RunStage } from "@/lib/runs/run-sample";
import { formatCount, plural } from "./format";
import type { Figures } from "./run-view";

/** The verdict line while a sale runs: one short sentence. */
export function runningText(figures: Figures, stage: RunStage | undefined): string {
  const { orders, initial, oversold } = figures;
  if (stage === "generator") return "The load generator starts.";
  if (stage === "doors") return "The buyers connect. No purchase has arrived yet.";
  if (stage === "closing") return "The load is over. The lab collects and checks what the nodes recorded.";
  if (oversold > 0) {
    return `Oversold already: ${plural(orders, "unit")} ordered from a stock of ${formatCount(initial)}, and the sale is still running.`;
  }
  if (orders === 0) return "No orders yet.";
  if (orders >= initial)
    return `All ${plural(initial, "unit")} are sold; the remaining buyers get a sold-out response.`;
  return `${formatCount(orders)} of ${plural(initial, "unit")} sold so far.`;
}
