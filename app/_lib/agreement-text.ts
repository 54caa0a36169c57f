import type { ClientReport, RunDocument } from "@/lib/runs/document";
import { durationText, formatCount, plural } from "./format";

export interface AgreementText {
  readonly sentences: readonly string[];
  /** What the two sides disagree about. */
  readonly flags: readonly string[];
}

/** The load generator's word beside the nodes'; null where it never reported, or the run is older than the comparison. */
export function agreementText({
  agreement,
  client,
  visitors = 0,
}: Pick<RunDocument, "agreement" | "client" | "visitors">): AgreementText | null {
  if (!agreement || !client) return null;
  const counts =
    agreement.counted === client.iterations
      ? `The load generator sent ${plural(client.iterations, "purchase")} and the nodes counted as many.`
      : `The load generator sent ${formatCount(client.iterations)} and the nodes counted ${formatCount(agreement.counted)}.`;
  const joined =
    visitors === 0
      ? []
      : [
          `People on the shop's pages sent ${plural(visitors, "purchase")} beside it, counted and judged like the rest.`,
        ];
  const explained =
    agreement.flags.length === 0 && agreement.gaps.length > 0
      ? ["What lies between their latencies is explained by its lateness and by the network."]
      : [];
  return {
    sentences: [counts, ...joined, latenessText(client), processorText(client), ...explained],
    flags: agreement.flags,
  };
}

function latenessText({ generatorLagP99Ms: lagMs }: ClientReport): string {
  return lagMs === undefined
    ? "It did not say how late it was."
    : `It was up to ${durationText(lagMs)} late itself (p99).`;
}

function processorText(client: ClientReport): string {
  const {
    generatorCpuPercent: percent,
    generatorSparePercent: sparePercent,
    generatorProcess,
    generatorCpuUnknown,
  } = client;
  if (percent === undefined) {
    const why = generatorCpuUnknown === undefined ? "" : `: ${generatorCpuUnknown}`;
    return `What it took of the processor is not known${why}.`;
  }
  const used = `used ${formatCount(percent)} % of a core`;
  if (sparePercent === undefined) return `It ${used}.`;
  const who = generatorProcess === undefined ? "It" : `Its process ${generatorProcess}`;
  return `${who} ${used} in its busiest second, with ${formatCount(sparePercent)} % of one left over.`;
}
