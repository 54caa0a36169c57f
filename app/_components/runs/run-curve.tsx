import type { RunDocument } from "@/lib/runs/document";
import { curveOfHistogram, mergedLatency } from "@/lib/runs/histogram-curve";
import { curveOfPercentiles } from "@/lib/runs/latency-curve";
import { type LabelledCurve, PercentileCurve } from "../chart/percentile-curve";

/** The nodes' whole distribution; the buyers' as far as the load engine reports it. */
function curvesOf(document: RunDocument): LabelledCurve[] {
  const { latencyMs, latencySource, agreement, counts, client } = document;
  const merged = mergedLatency([document]);
  const served = agreement?.serverLatencyMs ?? (latencySource === "server" ? latencyMs : null);
  const points = merged ? curveOfHistogram(merged) : served === null ? [] : curveOfPercentiles(served, counts.requests);
  const nodes = { id: "nodes", label: "inside the nodes", points };
  if (latencySource === "server") return [nodes];
  const buyers = {
    id: "buyers",
    label: `as the buyers saw it (${client?.engine ?? "load engine"})`,
    points: curveOfPercentiles(latencyMs, counts.requests),
  };
  return [nodes, buyers];
}

/** Latency by percentile, both views over each other. */
export function RunCurve({ document }: { document: RunDocument }) {
  return <PercentileCurve title="Latency by percentile" curves={curvesOf(document)} height={230} />;
}
