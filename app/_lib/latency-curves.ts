import type { RunDocument } from "@/lib/runs/document";
import { curveOfHistogram, mergedLatency } from "@/lib/runs/histogram-curve";
import { buyersCurve, curveOfPercentiles } from "@/lib/runs/latency-curve";
import type { CurvePoint } from "@/lib/runs/percentile-axis";

/** Latency by percentile, as measured by the nodes or by the load generator. */
export interface LatencyCurve {
  readonly id: "nodes" | "buyers";
  readonly label: string;
  readonly points: readonly CurvePoint[];
}

/** The nodes' full histogram, and the percentiles that the load generator reports. Server-side only. */
export function latencyCurves(document: RunDocument): LatencyCurve[] {
  const { latencyMs, latencySource, agreement, counts, client } = document;
  const merged = mergedLatency([document]);
  const served = agreement?.serverLatencyMs ?? (latencySource === "server" ? latencyMs : null);
  const points = merged ? curveOfHistogram(merged) : served === null ? [] : curveOfPercentiles(served, counts.requests);
  const nodes: LatencyCurve = { id: "nodes", label: "inside the nodes", points };
  if (latencySource === "server") return [nodes];
  const label = `as the buyers saw it (${client?.engine ?? "load generator"})`;
  return [nodes, { id: "buyers", label, points: buyersCurve(document) }];
}
