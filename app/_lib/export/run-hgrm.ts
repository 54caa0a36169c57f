import type { RunHistograms } from "@/lib/runs/document";
import { decodeHistogram } from "@/lib/runs/percentiles";

const MICROS_PER_MS = 1_000;
/** As HdrHistogram's own tools write it. */
const TICKS_PER_HALF_DISTANCE = 5;

export const HISTOGRAM_NAMES = [
  "latency",
  "poolWait",
  "wait",
  "hold",
  "commit",
] as const satisfies readonly (keyof RunHistograms)[];

/** HdrHistogram's percentile distribution, in milliseconds: what its plotter and its log tools read. */
export function hgrm(histograms: RunHistograms, name: (typeof HISTOGRAM_NAMES)[number]): string {
  return decodeHistogram(histograms[name]).outputPercentileDistribution(TICKS_PER_HALF_DISTANCE, MICROS_PER_MS);
}
