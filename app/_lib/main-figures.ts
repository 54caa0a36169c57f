import { formatCount, formatDuration, formatRate, NO_VALUE } from "./format";
import type { Figures } from "./run-view";

/** One of the main figures, as the page and the exported file show it. */
export interface MainFigure {
  readonly label: string;
  readonly hint: string;
  readonly text: string;
  /** Smaller text after the value. */
  readonly unit: string;
  readonly isAlarm: boolean;
  /** Characters reserved for the value, so that its unit does not move while the sale runs. */
  readonly reserved: number;
}

/** "0.42", "3.4", "121", "1.24". */
const DURATION_CHARACTERS = 4;

export function mainFiguresOf(figures: Figures): MainFigure[] {
  const { sold, purchases, lostUpdates, tone } = figures;
  const isBuyersView = figures.latencySource === "client";
  const view = isBuyersView ? "buyers" : "nodes";
  const measuredBy = isBuyersView ? "measured by the load generator" : "measured inside the store nodes";
  const p50 = formatDuration(figures.latencyMs.p50);
  const p99 = formatDuration(figures.latencyMs.p99);
  const calm = { isAlarm: false, unit: "", reserved: 0 };
  const ofAll = formatCount(purchases ?? 0).length;
  return [
    {
      ...calm,
      label: "Sold",
      hint: "Purchases that received a success response, of all purchases",
      text: formatCount(sold),
      unit: purchases === null ? "" : `of ${formatCount(purchases)}`,
      reserved: ofAll,
    },
    {
      ...calm,
      label: "Lost updates",
      hint: "Orders that the stock counter does not include, because one write overwrote another",
      text: tone === "failed" && lostUpdates === 0 ? NO_VALUE : formatCount(lostUpdates),
      isAlarm: lostUpdates > 0,
    },
    {
      ...calm,
      label: "Deliverable /s",
      hint: "Units sold per second that can be delivered: orders beyond the stock do not count. While the sale runs: in the last quarter of a second. Afterwards: average of the whole run",
      text: formatRate(figures.soldPerSecond),
    },
    {
      ...calm,
      ...p50,
      reserved: DURATION_CHARACTERS,
      label: `p50, ${view}`,
      hint: `Half of the purchases got a response within this time, ${measuredBy}`,
    },
    {
      ...calm,
      ...p99,
      reserved: DURATION_CHARACTERS,
      label: `p99, ${view}`,
      hint: `99 of 100 purchases got a response within this time, ${measuredBy}`,
    },
    {
      ...calm,
      label: "Peak in flight",
      hint: "Highest number of purchases that the nodes served at the same time",
      text: formatCount(figures.peakInFlight),
      unit: peakUnit(figures),
      reserved: ofAll,
    },
  ];
}

function peakUnit({ tone, certified }: Figures): string {
  if (tone === "running" || tone === "opening") return "so far";
  return certified ? "certified" : "not certified";
}
