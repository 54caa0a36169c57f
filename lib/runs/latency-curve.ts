import type { Percentiles } from "../node/figures";
import type { ClientReport } from "./client-report";
import type { RunDocument } from "./document";
import { type CurvePoint, shareOfMax } from "./percentile-axis";

const KNOWN: readonly (readonly [Exclude<keyof Percentiles, "max">, number])[] = [
  ["p50", 0.5],
  ["p90", 0.9],
  ["p95", 0.95],
  ["p99", 0.99],
  ["p999", 0.999],
];

/** A curve through the percentiles of a document. The maximum is the last purchase, so its share is 1 - 1/purchases. */
export function curveOfPercentiles(percentiles: Percentiles, purchases: number): CurvePoint[] {
  const maxShare = shareOfMax(purchases);
  const points = KNOWN.flatMap(([name, share]) => {
    const ms = percentiles[name];
    // A percentile beyond the last purchase equals the maximum.
    return ms === null || share >= maxShare ? [] : [{ share, ms }];
  });
  return percentiles.max === null ? points : [...points, { share: maxShare, ms: percentiles.max }];
}

/** The buyers' latency as a curve, with as many points as their load generator reported. */
export function buyersCurve({
  latencyMs,
  counts,
  client,
}: Pick<RunDocument, "latencyMs" | "counts" | "client">): CurvePoint[] {
  if (!client?.curve) return curveOfPercentiles(latencyMs, counts.requests);
  const maxShare = shareOfMax(answeredOf(client));
  const points = client.curve.flatMap(({ percentile, ms }) =>
    percentile / 100 < maxShare ? [{ share: percentile / 100, ms }] : [],
  );
  return latencyMs.max === null ? points : [...points, { share: maxShare, ms: latencyMs.max }];
}

/** Purchases that the generator got an answer to. Its latencies cover only these. */
export function answeredOf({ iterations, failedRequests }: ClientReport): number {
  return Math.max(0, iterations - failedRequests);
}
