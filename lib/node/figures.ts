import { z } from "zod";

/** Counts and percentiles of purchases: a node measures them, and the run document reports them. */

const count = z.int().min(0);
/** Milliseconds; null if nothing was measured. */
const millis = z.number().min(0).nullable();

export const percentilesSchema = z.object({
  p50: millis,
  p90: millis,
  p95: millis,
  p99: millis,
  p999: millis,
  max: millis,
});
export type Percentiles = z.infer<typeof percentilesSchema>;

export const emptyPercentiles: Percentiles = { p50: null, p90: null, p95: null, p99: null, p999: null, max: null };

export const countsSchema = z.object({
  requests: count,
  sold: count,
  soldOut: count,
  contended: count,
  /** Already claimed, or over the buyer's limit. */
  rejected: count,
  errors: count,
  unknown: count,
});
export type RunCounts = z.infer<typeof countsSchema>;

export function emptyCounts(): RunCounts {
  return { requests: 0, sold: 0, soldOut: 0, contended: 0, rejected: 0, errors: 0, unknown: 0 };
}
