/**
 * The median of repeats and where the true one may lie. Order statistics only: latencies and throughputs of a contended
 * row have no shape worth assuming (docs/decisions/130-comparing-repeats.md).
 */

export interface MedianInterval {
  readonly median: number;
  /** Two of the values themselves, the same number of places from either end. */
  readonly low: number;
  readonly high: number;
  readonly runs: number;
  /** How often an interval made like this one holds the true median; below the 95 % aimed at for fewer than six runs. */
  readonly coverage: number;
}

export const AIMED_COVERAGE = 0.95;

/** Null when nothing was measured. The median of an even number is the mean of the middle two. */
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
  // Halved before they are added: two of the largest numbers have a middle too.
  return {
    median: lower === upper ? lower : lower / 2 + upper / 2,
    low,
    high,
    runs,
    coverage: coverageOf(runs, places),
  };
}

/** The narrowest symmetric interval with the coverage aimed at; the whole range where there is none. */
function placesFromTheEnd(runs: number): number {
  let places = 0;
  while (2 * (places + 1) < runs && coverageOf(runs, places + 1) >= AIMED_COVERAGE) places += 1;
  return places;
}

/**
 * The chance that the median lies between the value `places` from the low end and the one `places` from the high end:
 * each run is above the median or below it like a coin, and the interval misses when nearly all fall on one side.
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
