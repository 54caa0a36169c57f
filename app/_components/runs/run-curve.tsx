import { latencyCurves } from "@/app/_lib/latency-curves";
import type { RunDocument } from "@/lib/runs/document";
import { PercentileCurve } from "../chart/percentile-curve";

/** Latency by percentile, inside the nodes and as the buyers saw it. */
export function RunCurve({ document }: { document: RunDocument }) {
  return <PercentileCurve title="Latency by percentile" curves={latencyCurves(document)} height={230} />;
}
