import { formatCount, plural } from "./format";
import type { RunView } from "./run-view";
import { figuresOf } from "./run-view";
import { TONE_TEXT, toneOf, verdictText } from "./verdict";

/** Minimum interval between announcements to a screen reader. */
export const ANNOUNCE_EVERY_MS = 5_000;

/** Delay before the next announcement that keeps the minimum interval; 0: announce now. */
export function announceDelayMs(lastAtMs: number | null, nowMs: number): number {
  return lastAtMs === null ? 0 : Math.max(0, lastAtMs + ANNOUNCE_EVERY_MS - nowMs);
}

/** The state of the run in one sentence, for screen readers. */
export function summaryOf(view: RunView): string {
  const { document } = view;
  if (view.phase === "opening") return "Starting the sale.";
  if (document === null) return "";
  const figures = figuresOf(document, view.samples);
  if (document.status === "running") {
    return `Running ${document.strategy}: ${plural(figures.orders, "unit")} ordered from a stock of ${formatCount(figures.initial)}, ${formatCount(figures.oversold)} oversold.`;
  }
  return `${TONE_TEXT[toneOf(document)]}. Oversold ${formatCount(figures.oversold)}. ${verdictText(document).lead}`;
}
