import type { RunDocument } from "@/lib/runs/document";
import { curveOfHistogram, medianCurve, mergedLatency } from "@/lib/runs/histogram-curve";
import { buyersLatencyOf } from "./buyers-latency";
import { groupRuns, hasOneEnvironment, type RunGroup, sharedSettings } from "./compare-groups";

/** What the comparison shows about its runs. Server-side only, because the browser does not load the histogram library. */
export interface ComparedRuns {
  readonly groups: readonly RunGroup[];
  readonly shared: string;
  readonly hasOneEnvironment: boolean;
  /** Who measured the curves, which is the same for all of them: the nodes if every run has their histogram, else the buyers. */
  readonly curveSource: "nodes" | "buyers";
}

export function comparedRuns(finished: readonly RunDocument[]): ComparedRuns {
  const curveSource = finished.every(({ histograms }) => histograms !== undefined) ? "nodes" : "buyers";
  return {
    groups: groupRuns(finished, curveSource === "nodes" ? nodesCurve : buyersCurve),
    shared: sharedSettings(finished),
    hasOneEnvironment: hasOneEnvironment(finished),
    curveSource,
  };
}

function nodesCurve(repeats: readonly RunDocument[]) {
  const merged = mergedLatency(repeats);
  return merged === null ? [] : curveOfHistogram(merged);
}

/** Empty if no load generator reported. */
function buyersCurve(repeats: readonly RunDocument[]) {
  return medianCurve(repeats.filter((run) => buyersLatencyOf(run) !== null));
}
