import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument } from "@/lib/runs/document";

/**
 * The latency that tables of several runs show: of the buyers, never mixed with that of the nodes. Null if the load generator did
 * not report.
 */
export function buyersLatencyOf({ latencyMs, latencySource }: RunDocument): Percentiles | null {
  return latencySource === "client" ? latencyMs : null;
}
