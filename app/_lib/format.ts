/** A formatted number with a separate unit, because the pages show units smaller and muted. */
export interface Quantity {
  readonly text: string;
  readonly unit: string;
}

/** Shown for a missing value. */
export const NO_VALUE = "–";

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? NO_VALUE : grouped.format(value);
}

const twoDecimals = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** Axis label that fits the axis width: 7.5, 1,000, 15k. */
export function formatTick(value: number): string {
  return value >= 10_000 ? `${twoDecimals.format(value / 1_000)}k` : twoDecimals.format(value);
}

/** A duration in ms below one second, else in s: 0.42 ms, 3.4 ms, 121 ms, 1.24 s. */
export function formatDuration(ms: number | null | undefined): Quantity {
  if (ms === null || ms === undefined) return { text: NO_VALUE, unit: "ms" };
  if (ms === 0) return { text: "0", unit: "ms" };
  if (ms < 0.995) return { text: ms.toFixed(2), unit: "ms" };
  if (ms < 9.95) return { text: ms.toFixed(1), unit: "ms" };
  if (ms < 999.5) return { text: ms.toFixed(0), unit: "ms" };
  if (ms < 99_950) return { text: (ms / 1000).toFixed(ms < 9_995 ? 2 : 1), unit: "s" };
  return { text: grouped.format(Math.round(ms / 1000)), unit: "s" };
}

/** Milliseconds with exactly one decimal, so that the values of a column align. */
export function formatMsCell(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NO_VALUE;
  const [whole = "0", decimal = "0"] = ms.toFixed(1).split(".");
  return `${grouped.format(Number(whole))}.${decimal}`;
}

export function formatRate(perSecond: number | null | undefined): string {
  if (perSecond === null || perSecond === undefined) return NO_VALUE;
  return perSecond > 0 && perSecond < 9.95 ? perSecond.toFixed(1) : grouped.format(Math.round(perSecond));
}

/** Jain's index of fairness, from 0 to 1. */
export function formatJain(jain: number | null): string {
  return jain === null ? NO_VALUE : jain.toFixed(3);
}

/** A duration with its unit as text: "3.2 s". */
export function durationText(ms: number | null | undefined): string {
  const { text, unit } = formatDuration(ms);
  return text === NO_VALUE ? NO_VALUE : `${text} ${unit}`;
}

/** A configured duration, without added decimals: 5 ms, 2 s, 1,500 ms. */
export function settingText(ms: number): string {
  return ms >= 1_000 && ms % 1_000 === 0 ? `${grouped.format(ms / 1_000)} s` : `${grouped.format(ms)} ms`;
}

/** `2026-11-20 23:36:05`, the same width in both zones, so that hydration does not shift the layout. */
export function formatWhen(epochMs: number, zone: "utc" | "local"): string {
  const date = new Date(epochMs);
  const shifted = zone === "utc" ? date : new Date(epochMs - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

/** "1 order", "2 orders". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
