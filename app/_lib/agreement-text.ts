import type { ClientReport } from "@/lib/runs/client-report";
import type { RunDocument } from "@/lib/runs/document";
import { durationText, formatCount, plural } from "./format";

export interface AgreementText {
  readonly sentences: readonly string[];
  /** Differences that nothing explains. */
  readonly flags: readonly string[];
}

/** Compares the load generator's report with the nodes' counts; null without a report, or for a run older than this comparison. */
export function agreementText({
  agreement,
  client,
  visitors = 0,
}: Pick<RunDocument, "agreement" | "client" | "visitors">): AgreementText | null {
  if (!agreement || !client) return null;
  const counts =
    agreement.counted === client.iterations
      ? `The load generator sent ${plural(client.iterations, "purchase")} and the nodes counted the same number.`
      : `The load generator sent ${formatCount(client.iterations)} and the nodes counted ${formatCount(agreement.counted)}.`;
  const visitorText =
    visitors === 0
      ? []
      : [`Visitors of the shop sent ${plural(visitors, "purchase")} during the run; the checks include them.`];
  const explained =
    agreement.flags.length === 0 && agreement.gaps.length > 0
      ? ["Its lag and the network explain the difference between the two latencies."]
      : [];
  return {
    sentences: [counts, ...visitorText, lagText(client), cpuText(client), ...explained],
    flags: agreement.flags,
  };
}

function lagText({ generatorLagP99Ms: lagMs }: ClientReport): string {
  return lagMs === undefined
    ? "It did not report its lag."
    : `It fell behind its schedule by up to ${durationText(lagMs)} (p99).`;
}

function cpuText(client: ClientReport): string {
  const {
    generatorCpuPercent: percent,
    generatorSparePercent: sparePercent,
    generatorProcess,
    generatorCpuUnknown,
  } = client;
  if (percent === undefined) {
    const why = generatorCpuUnknown === undefined ? "" : `: ${generatorCpuUnknown}`;
    return `Its CPU use is unknown${why}.`;
  }
  const used = `used ${formatCount(percent)} % of a core`;
  if (sparePercent === undefined) return `It ${used}.`;
  const subject = generatorProcess === undefined ? "It" : `Its process ${generatorProcess}`;
  return `${subject} ${used} in its busiest second, while ${formatCount(sparePercent)} % of a core was idle.`;
}
