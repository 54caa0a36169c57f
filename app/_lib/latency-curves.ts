import type { RunDocument } from "@/lib/runs/document";
import { curveOfHistogram, mergedLatency } from "@/lib/runs/histogram-curve";
import { buyersCurve, curveOfPercentiles } from "@/lib/runs/latency-curve";
import type { CurvePoint } from "@/lib/runs/percentile-axis";

/** Latency by percentile as one of the two who measured it has it. */
export interface LatencyCurve {
  readonly id: "nodes" | "buyers";
  readonly label: string;
  readonly points: readonly CurvePoint[];
}

/** The nodes' whole distribution; the buyers' as finely as the load engine reports it. On the server only. */
export function latencyCurves(document: RunDocument): LatencyCurve[] {
  const { latencyMs, latencySource, agreement, counts, client } = document;
  const merged = mergedLatency([document]);
  const served = agreement?.serverLatencyMs ?? (latencySource === "server" ? latencyMs : null);
  const points = merged ? curveOfHistogram(merged) : served === null ? [] : curveOfPercentiles(served, counts.requests);
  const nodes: LatencyCurve = { id: "nodes", label: "inside the nodes", points };
  if (latencySource === "server") return [nodes];
  const label = `as the buyers saw it (${client?.engine ?? "load engine"})`;
  return [nodes, { id: "buyers", label, points: buyersCurve(document) }];
}
