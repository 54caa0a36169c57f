import {
  decimals,
  NO_VALUE,
  roughText,
  durationText as spacedDuration,
  settingText as spacedSetting,
} from "@/lib/services/number-text";

/** The number formats of the pages. Those that sentences of the lab use too are in lib/services/number-text.ts. */

export {
  decimals,
  formatCount,
  formatDuration,
  NO_VALUE,
  plural,
  type Quantity,
  roughText,
} from "@/lib/services/number-text";

const NO_BREAK_SPACE = "\u00a0";

/** A measured duration as text: 3.2 s. A line does not break before its unit. */
export function durationText(ms: number | null | undefined): string {
  return spacedDuration(ms).replace(" ", NO_BREAK_SPACE);
}

/** A configured duration as text: 5 ms. A line does not break before its unit. */
export function settingText(ms: number): string {
  return spacedSetting(ms).replace(" ", NO_BREAK_SPACE);
}

/** A sentence in which no line breaks between a number and its unit. */
export function keepUnits(sentence: string): string {
  return sentence.replace(/(\d) (m?s)\b/g, `$1${NO_BREAK_SPACE}$2`);
}

const shortest = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** The labels of one axis, all in the same unit and at most six characters: "0", "2.5", "5", or "0", "5k", "10k". */
export function formatTicks(values: readonly number[]): string[] {
  const isLarge = values.some((value) => value >= 10_000);
  return values.map((value) =>
    isLarge && value !== 0 ? `${shortest.format(value / 1_000)}k` : shortest.format(value),
  );
}

/** The label of a latency axis: 0.5 ms, 50 ms, 2.5 s. */
export function formatMsTick(ms: number): string {
  return ms >= 1_000 ? `${shortest.format(ms / 1_000)} s` : `${shortest.format(ms)} ms`;
}

/** A number without grouping or added zeros, for the ticks of a time axis: 0.25, 1500. */
export function plainNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** Milliseconds with exactly one decimal, so that the values of a column align. */
export function formatMsCell(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? NO_VALUE : decimals(ms, 1);
}

/** The time of a recorded step in milliseconds, to the microsecond. */
export function formatStepMs(us: number): string {
  return decimals(us / 1_000, 3);
}

export function formatRate(perSecond: number | null | undefined): string {
  return perSecond === null || perSecond === undefined ? NO_VALUE : roughText(perSecond);
}

/** 99.93 %, with as many decimals as its position on the percentile axis can resolve. */
export function formatShare(share: number): string {
  const digits = Math.max(0, Math.ceil(-Math.log10(Math.max(1e-9, 1 - share)) - 1e-9) - 1);
  return `${decimals(share * 100, digits)} %`;
}

/** Jain's index of fairness, from 0 to 1. */
export function formatJain(jain: number | null): string {
  return jain === null ? NO_VALUE : decimals(jain, 3);
}

const euros = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });

export function formatPrice(cents: number): string {
  return euros.format(cents / 100);
}

/** A part of a clock time: 07. */
export function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** `2026-11-20 23:36:05`, the same width in both zones, so that hydration does not shift the layout. */
export function formatWhen(epochMs: number, zone: "utc" | "local"): string {
  const date = new Date(epochMs);
  const shifted = zone === "utc" ? date : new Date(epochMs - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}
