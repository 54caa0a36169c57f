import type { RunDocument } from "@/lib/runs/document";
import { durationWords, formatCount, plural } from "./format";

export interface AgreementWords {
  readonly sentences: readonly string[];
  /** What the two sides disagree about. */
  readonly flags: readonly string[];
}

/** The load generator's word beside the nodes'; null where it never reported, or the run is older than the comparison. */
export function agreementWords({
  agreement,
  client,
  visitors = 0,
}: Pick<RunDocument, "agreement" | "client" | "visitors">): AgreementWords | null {
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
  const { generatorLagP99Ms: lagMs, generatorCpuPercent: cpuPercent } = client;
  const late = lagMs === undefined ? "" : `It was up to ${durationWords(lagMs)} late itself (p99)`;
  const busy = cpuPercent === undefined ? "" : `used ${formatCount(cpuPercent)} % of a core`;
  const about = [late, late === "" && busy !== "" ? `It ${busy}` : busy].filter((part) => part !== "").join(" and ");
  const explained =
    agreement.flags.length === 0 && agreement.gaps.length > 0
      ? ["What lies between their latencies is explained by that and by the network."]
      : [];
  return {
    sentences: [counts, ...joined, ...(about === "" ? [] : [`${about}.`]), ...explained],
    flags: agreement.flags,
  };
}
