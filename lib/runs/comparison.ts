import { roughText } from "../services/number-text";
import type { RunDocument } from "./document";
import type { MedianInterval } from "./median-interval";

/** Comparison of repeated measurements with a baseline. */

/** Whether the speed of a run can be ranked: a run that breaks a promise, or is not shown to keep it, may skip work that others do. */
export function isRanked({ verdict }: Pick<RunDocument, "verdict">): boolean {
  return verdict === "safe";
}

export type BetterIs = "higher" | "lower";

export type Comparison =
  | { readonly kind: "no_data" }
  /** With so few runs, even separate intervals are likely by chance. */
  | { readonly kind: "too_few"; readonly runs: number }
  | { readonly kind: "no_clear_difference" }
  | {
      readonly kind: "faster" | "slower";
      /** Ratio of the medians, 1 or more; null if one of them is 0. */
      readonly factor: number | null;
    };

/**
 * Without a real difference, the ranges of three runs each are separate by chance in one comparison of ten, of four runs each in one
 * of thirty-five. Of two runs each it is one in three, which is too often to report.
 */
export const FEWEST_RUNS = 3;

/** Reports a difference only if the two intervals of the median do not overlap. */
export function compareIntervals(
  candidate: MedianInterval | null,
  baseline: MedianInterval | null,
  betterIs: BetterIs,
): Comparison {
  if (candidate === null || baseline === null) return { kind: "no_data" };
  const runs = Math.min(candidate.runs, baseline.runs);
  if (runs < FEWEST_RUNS) return { kind: "too_few", runs };
  const isAbove = candidate.low > baseline.high;
  const isBelow = candidate.high < baseline.low;
  if (!isAbove && !isBelow) return { kind: "no_clear_difference" };
  const [larger, smaller] = isAbove ? [candidate.median, baseline.median] : [baseline.median, candidate.median];
  const factor = smaller > 0 && Number.isFinite(larger / smaller) ? larger / smaller : null;
  return { kind: isAbove === (betterIs === "higher") ? "faster" : "slower", factor };
}

/** The probability that the ranges of two samples of one distribution do not overlap. */
export function chanceOfSeparateRanges(runs: number, others: number): number {
  let arrangements = 1;
  for (let index = 1; index <= others; index += 1) arrangements = (arrangements * (runs + index)) / index;
  return 2 / arrangements;
}

/** `faster by 18 %`, `slower by a factor of 3.2`, `no clear difference`. Percent and factor are of the speed, not of the time. */
export function comparisonWords(comparison: Comparison): string {
  switch (comparison.kind) {
    case "no_data":
      return "not measured";
    case "too_few":
      return `too few runs (${comparison.runs})`;
    case "no_clear_difference":
      return "no clear difference";
    default:
      return `${comparison.kind}${byWords(comparison.factor)}`;
  }
}

function byWords(factor: number | null): string {
  if (factor === null) return "";
  if (factor < 2) return ` by ${roughText((factor - 1) * 100)} %`;
  return ` by a factor of ${roughText(factor)}`;
}
