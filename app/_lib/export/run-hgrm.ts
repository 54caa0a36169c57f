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
    if (client?.curve === undefined) return null;
    return `${SOURCE.buyers}${hgrmOfCurve(buyersCurve({ ...document, client }), client)}`;
  }
  const encoded = histograms?.[of];
  if (encoded === undefined) return null;
  const distribution = decodeHistogram(encoded).outputPercentileDistribution(TICKS_PER_HALF_DISTANCE, MICROS_PER_MS);
  return `${SOURCE[of]}${distribution}`;
}

const phaseSource = (phase: string) => `#[${phase} of a purchase in milliseconds, measured by the store nodes]\n`;

/** First line of a file; the tools that read the format skip lines that begin with #. */
const SOURCE: Record<Distribution, string> = {
  buyers: "#[Buyer latency in milliseconds, measured by the load generator]\n",
  latency: "#[Node latency in milliseconds, measured by the store nodes]\n",
  poolWait: phaseSource("Wait for a pooled connection"),
  wait: phaseSource("Wait"),
  hold: phaseSource("Hold"),
  commit: phaseSource("Commit"),
};

/** A distribution's name in a file name: it says whose latency it is. */
export const FILE_WORDS: Record<Distribution, string> = {
  buyers: "buyer-latency",
  latency: "node-latency",
  poolWait: "poolWait",
  wait: "wait",
  hold: "hold",
  commit: "commit",
};

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
