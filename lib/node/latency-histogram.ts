import * as hdr from "hdr-histogram-js";
import { CURVE_PERCENTILES } from "./curve-percentiles";
import { emptyPercentiles, type Percentiles } from "./figures";

/** Latencies are recorded in whole microseconds, two significant digits, up to two minutes. */
const MICROS_PER_MS = 1_000;
const MAX_MICROS = 120_000_000;

export type LatencyHistogram = hdr.Histogram;

export function createHistogram(): LatencyHistogram {
  return hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_MICROS,
    numberOfSignificantValueDigits: 2,
    bitBucketSize: 32,
    useWebAssembly: false,
  });
}

export function recordMs(histogram: LatencyHistogram, durationMs: number): void {
  const micros = Math.round(durationMs * MICROS_PER_MS);
  histogram.recordValue(Math.min(MAX_MICROS, Math.max(1, micros)));
}

/** Percentiles in milliseconds, to the microsecond; all null if nothing was recorded. */
export function percentilesOf(histogram: LatencyHistogram): Percentiles {
  if (histogram.totalCount === 0) return emptyPercentiles;
  // A bucket reports its upper bound, which may exceed the highest recorded value.
  const max = histogram.maxValue;
  const at = (percentile: number) => Math.min(max, histogram.getValueAtPercentile(percentile)) / MICROS_PER_MS;
  return {
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    max: max / MICROS_PER_MS,
  };
}

/** Latency at each of `CURVE_PERCENTILES`; undefined if nothing was recorded. */
export function curveOf(histogram: LatencyHistogram): { percentile: number; ms: number }[] | undefined {
  if (histogram.totalCount === 0) return undefined;
  const max = histogram.maxValue;
  return CURVE_PERCENTILES.map((percentile) => ({
    percentile,
    ms: Math.min(max, histogram.getValueAtPercentile(percentile)) / MICROS_PER_MS,
  }));
}

export function encodeHistogram(histogram: LatencyHistogram): string {
  return hdr.encodeIntoCompressedBase64(histogram);
}

export function decodeHistogram(encoded: string): LatencyHistogram {
  return hdr.decodeFromCompressedBase64(encoded, 32, false);
}

export function mergeHistograms(histograms: readonly LatencyHistogram[]): LatencyHistogram {
  const merged = createHistogram();
  for (const histogram of histograms) merged.add(histogram);
  return merged;
}
