/**
 * The median of repeated runs with a confidence interval. Uses order statistics only, because latencies and throughputs of a
 * contended row follow no known distribution.
 */

export interface MedianInterval {
  readonly median: number;
  /** `low` and `high` are two of the values, at the same distance from either end of the sorted values. */
  readonly low: number;
  readonly high: number;
  readonly runs: number;
  /** Probability that such an interval contains the true median. Below the target of 95 % for fewer than six runs. */
  readonly coverage: number;
}

export const TARGET_COVERAGE = 0.95;

/** Null without values. The median of an even number of values is the mean of the middle two. */
export function medianInterval(values: readonly (number | null | undefined)[]): MedianInterval | null {
  const sorted = values.filter((value) => typeof value === "number" && Number.isFinite(value)) as number[];
  sorted.sort((a, b) => a - b);
  const runs = sorted.length;
  const places = placesFromTheEnd(runs);
  const low = sorted[places];
  const high = sorted[runs - 1 - places];
  if (low === undefined || high === undefined) return null;
  const lower = sorted[Math.floor((runs - 1) / 2)] ?? low;
  const upper = sorted[Math.floor(runs / 2)] ?? high;
  // Halving before adding avoids an overflow for the largest numbers.
  return {
    median: lower === upper ? lower : lower / 2 + upper / 2,
    low,
    high,
    runs,
    coverage: coverageOf(runs, places),
  };
}

/** The narrowest symmetric interval with the target coverage; the whole range if there is none. */
function placesFromTheEnd(runs: number): number {
  let places = 0;
  while (2 * (places + 1) < runs && coverageOf(runs, places + 1) >= TARGET_COVERAGE) places += 1;
  return places;
}

/**
 * The probability that the true median lies between the value `places` from the low end and the value `places` from the high end.
 * Each run falls above or below the median like a coin toss; the interval misses if nearly all fall on one side.
 */
export function coverageOf(runs: number, places: number): number {
  let chanceOfOneSide = 0;
  let term = 0.5 ** runs;
  for (let heads = 0; heads <= places; heads += 1) {
    chanceOfOneSide += term;
    term = (term * (runs - heads)) / (heads + 1);
  }
  return Math.max(0, 1 - 2 * chanceOfOneSide);
}
