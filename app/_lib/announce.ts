import type { RunView } from "./run-view";
import { figuresOf } from "./run-view";
import { TONE_TEXT, toneOf, verdictText } from "./verdict";

/** Spoken summaries come no oftener than this. */
export const ANNOUNCE_EVERY_MS = 5_000;

/** How long to hold a text back so that two announcements keep their distance; 0 says it now. */
export function announceDelayMs(lastAtMs: number | null, nowMs: number): number {
  return lastAtMs === null ? 0 : Math.max(0, lastAtMs + ANNOUNCE_EVERY_MS - nowMs);
}

/** The state of the page in one sentence, for those who hear it. */
export function summaryOf(view: RunView): string {
  const { document } = view;
  if (view.phase === "opening") return "Opening the sale.";
  if (document === null) return "";
  const figures = figuresOf(document, view.samples);
  if (document.status === "running") {
    return `Running ${document.strategy}: ${figures.orders} orders for ${figures.initial} units, ${figures.oversold} oversold.`;
  }
  return `${TONE_TEXT[toneOf(document)]}. Oversold ${figures.oversold}. ${verdictText(document).lead}`;
}
