import { decodeHistogram } from "@/lib/node/latency-histogram";
import type { ClientReport } from "@/lib/runs/client-report";
import type { RunDocument, RunHistograms } from "@/lib/runs/document";
import { answeredOf, buyersCurve } from "@/lib/runs/latency-curve";
import type { CurvePoint } from "@/lib/runs/percentile-axis";

const MICROS_PER_MS = 1_000;
/** Value that the HdrHistogram tools use. */
const TICKS_PER_HALF_DISTANCE = 5;

/** A distribution of the nodes, or the latency that the load generator measured. */
export type Distribution = keyof RunHistograms | "buyers";

/**
 * Percentile distribution in HdrHistogram's format, in milliseconds, for its plotter and log tools.
 * @returns null if the run has no such distribution
 */
export function hgrm({ histograms, client, ...document }: RunDocument, of: Distribution): string | null {
  if (of === "buyers") {
    return client?.curve === undefined ? null : hgrmOfCurve(buyersCurve({ ...document, client }), client);
  }
  const encoded = histograms?.[of];
  if (encoded === undefined) return null;
  return decodeHistogram(encoded).outputPercentileDistribution(TICKS_PER_HALF_DISTANCE, MICROS_PER_MS);
}

/** The same format from the percentiles that the load generator reported; their mean is unknown. */
function hgrmOfCurve(curve: readonly CurvePoint[], client: ClientReport): string {
  const total = answeredOf(client);
  const lines = curve.map(({ share, ms }, at) => {
    // The last row, for the maximum, has percentile 1 and no fourth column.
    const isMax = at === curve.length - 1;
    const reached = isMax ? 1 : share;
    const count = Math.max(1, Math.round(reached * total));
    const inverse = isMax ? "" : (1 / (1 - share)).toFixed(2).padStart(15);
    return `${ms.toFixed(2).padStart(12)} ${reached.toFixed(12)} ${String(count).padStart(10)}${inverse}\n`;
  });
  const max = (curve.at(-1)?.ms ?? 0).toFixed(2).padStart(12);
  return `       Value     Percentile TotalCount 1/(1-Percentile)

${lines.join("")}#[Max     = ${max}, Total count    = ${String(total).padStart(12)}]
`;
}
