import type { Percentiles } from "../node/figures";
import { decodeHistogram, type LatencyHistogram, mergeHistograms } from "../node/latency-histogram";
import type { RunDocument } from "./document";
import { curveOfPercentiles } from "./latency-curve";
import { medianInterval } from "./median-interval";
import { type CurvePoint, percentilePosition, shareOfMax } from "./percentile-axis";

/** Curves from whole histograms. Separate from latency-curve.ts, because the browser does not load the histogram library. */

const MICROS_PER_MS = 1_000;
/** Points per decade of the axis: closer together than the pixels of the plots. */
const POINTS_PER_DECADE = 24;

export function curveOfHistogram(histogram: LatencyHistogram): CurvePoint[] {
  if (histogram.totalCount === 0) return [];
  const max = histogram.maxValue;
  const maxShare = shareOfMax(histogram.totalCount);
  const end = percentilePosition(maxShare);
  const steps = Math.ceil(end * POINTS_PER_DECADE);
  const shares = Array.from({ length: steps }, (_, index) => 1 - 10 ** -((index * end) / steps));
  const points = shares.map((share) => {
    const micros = Math.min(max, histogram.getValueAtPercentile(share * 100));
    return { share, ms: micros / MICROS_PER_MS };
  });
  return [...points, { share: maxShare, ms: max / MICROS_PER_MS }];
}

/** The sum of several runs' distributions; null if a run has no histogram. */
export function mergedLatency(documents: readonly RunDocument[]): LatencyHistogram | null {
  const encoded = documents.map(({ histograms }) => histograms?.latency);
  if (encoded.length === 0 || encoded.includes(undefined)) return null;
  return mergeHistograms(encoded.flatMap((text) => (text === undefined ? [] : [decodeHistogram(text)])));
}

/** For each percentile of the buyers' latency, the median over several runs. */
export function medianCurve(documents: readonly RunDocument[]): CurvePoint[] {
  const names = ["p50", "p90", "p95", "p99", "p999", "max"] as const;
  const medians = Object.fromEntries(
    names.map((name) => [name, medianInterval(documents.map(({ latencyMs }) => latencyMs[name]))?.median ?? null]),
  ) as unknown as Percentiles;
  const purchases = medianInterval(documents.map(({ counts }) => counts.requests))?.median ?? 0;
  return curveOfPercentiles(medians, purchases);
}
