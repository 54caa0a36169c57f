/** How every sentence and page writes a number: one format for each kind. */

/** A formatted number with a separate unit, because the pages show units smaller and muted. */
export interface Quantity {
  readonly text: string;
  readonly unit: string;
}

/** Shown for a missing value. */
export const NO_VALUE = "–";

const MAX_DIGITS = 6;
const byDigits = Array.from(
  { length: MAX_DIGITS + 1 },
  (_, digits) => new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** A grouped number with exactly this many decimals, up to six: 12,345.70. */
export function decimals(value: number, digits: number): string {
  const text = (byDigits[Math.min(digits, MAX_DIGITS)] as Intl.NumberFormat).format(value);
  return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? NO_VALUE : decimals(value, 0);
}

/** "1 order", "2 orders". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A measured duration in ms below one second, else in s: 0.42 ms, 3.4 ms, 121 ms, 1.24 s. */
export function formatDuration(ms: number | null | undefined): Quantity {
  if (ms === null || ms === undefined) return { text: NO_VALUE, unit: "ms" };
  if (ms === 0) return { text: "0", unit: "ms" };
  if (ms < 0.995) return { text: decimals(ms, 2), unit: "ms" };
  if (ms < 9.95) return { text: decimals(ms, 1), unit: "ms" };
  if (ms < 999.5) return { text: decimals(ms, 0), unit: "ms" };
  if (ms < 99_950) return { text: decimals(ms / 1_000, ms < 9_995 ? 2 : 1), unit: "s" };
  return { text: decimals(ms / 1_000, 0), unit: "s" };
}

/** A measured duration with its unit as text: "3.2 s". */
export function durationText(ms: number | null | undefined): string {
  const { text, unit } = formatDuration(ms);
  return text === NO_VALUE ? NO_VALUE : `${text} ${unit}`;
}

const exact = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

/** A configured duration, without added decimals: 0.2 ms, 5 ms, 2 s, 1,500 ms. */
export function settingText(ms: number): string {
  return ms >= 1_000 && ms % 1_000 === 0 ? `${exact.format(ms / 1_000)} s` : `${exact.format(ms)} ms`;
}

/** A ratio or a percentage that is not exact: 0.4, 3.2, 18, 1,204. */
export function roughText(value: number): string {
  return decimals(value, value > 0 && value < 9.95 ? 1 : 0);
}
