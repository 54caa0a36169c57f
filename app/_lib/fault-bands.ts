import type { RunDocument, RunSample } from "@/lib/runs/document";
import { activeSpan } from "./series";

/** A fault's time on a chart, in the chart's seconds. */
export interface FaultBand {
  readonly label: string;
  readonly fromS: number;
  readonly toS: number;
}

/**
 * Faults are written in the history's monotonic time, samples in milliseconds since the run was opened: the document
 * has both readings of that moment. A run without them is older than its faults could be.
 */
export function faultBandsOf(
  { faults, clock }: Pick<RunDocument, "faults" | "clock">,
  samples: readonly RunSample[],
): FaultBand[] {
  if (!clock || faults.length === 0) return [];
  const { fromMs } = activeSpan(samples);
  const opened = BigInt(clock.startedNs);
  const seconds = (readingNs: string) => Number(BigInt(readingNs) - opened) / 1e9 - fromMs / 1_000;
  return faults.map(({ faultId, fromNs, toNs }) => ({
    label: faultId,
    fromS: Math.max(0, seconds(fromNs)),
    toS: Math.max(0, seconds(toNs)),
  }));
}
