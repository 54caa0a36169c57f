import type { Percentiles, RunDocument } from "./document";
import { type CurvePoint, shareOfMax } from "./percentile-axis";

const KNOWN: readonly (readonly [Exclude<keyof Percentiles, "max">, number])[] = [
  ["p50", 0.5],
  ["p90", 0.9],
  ["p95", 0.95],
  ["p99", 0.99],
  ["p999", 0.999],
];

/** A curve through the percentiles of a document; the maximum stands where one purchase in all of them stands. */
export function curveOfPercentiles(percentiles: Percentiles, purchases: number): CurvePoint[] {
  const maxShare = shareOfMax(purchases);
  const points = KNOWN.flatMap(([name, share]) => {
    const ms = percentiles[name];
    // A percentile beyond the last purchase is the maximum under another name.
    return ms === null || share >= maxShare ? [] : [{ share, ms }];
  });
  return percentiles.max === null ? points : [...points, { share: maxShare, ms: percentiles.max }];
}

/** What the buyers of a run waited, as a curve. */
export function latencyCurve(document: Pick<RunDocument, "latencyMs" | "counts">): CurvePoint[] {
  return curveOfPercentiles(document.latencyMs, document.counts.requests);
}
