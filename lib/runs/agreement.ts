import { durationText, formatCount, plural, settingText } from "../services/number-text";
import type { ClientReport } from "./client-report";
import type { Agreement, RunDocument } from "./document";
import { answeredOf } from "./latency-curve";

/** Whether the load generator and the store nodes report the same sale. */

/** Allowed for the network: a loopback round trip, the accept queue, and a busy machine that reads the answer late. */
const NETWORK_MS = 500;
/** The same as a share of the latency, because every queue grows with the number of buyers. */
const NETWORK_SHARE = 0.25;
/** Allowed for the rounding of histograms and for percentiles of few values. */
const ROUNDING_MS = 50;
const ROUNDING_SHARE = 0.1;
/** A pause of the whole machine can delay a purchase by less than this. */
const LATE_MS = 2_000;
/** Buyers who start at one instant are sent one after the other; this is long for one of them, even on a busy machine. */
const LATE_MS_PER_BUYER = 2;
/** Share of the CPU time available to the generator (what it used, and what was idle) from which it was short of CPU. */
const ALL_OF_THE_CPU = 0.9;

const COMPARED = ["p50", "p99"] as const;
type Gap = Agreement["gaps"][number];

/** @param document with latencies as the nodes measured them, not yet replaced by the buyers' */
export function agreementOf(document: RunDocument, client: ClientReport): Agreement {
  const counted = countedOfLoad(document);
  // A purchase without an answer is in the nodes' latencies but not in the generator's, so they are not comparable.
  const comparable = client.failedRequests === 0 && counted > 0;
  const gaps = comparable ? COMPARED.flatMap((percentile) => gapAt(percentile, document, client)) : [];
  return {
    answered: answeredOf(client),
    counted,
    serverLatencyMs: document.latencyMs,
    gaps,
    isStarved: isLate(document, client) || isShortOfCpu(client, gaps),
    flags: [
      ...(client.iterations === counted ? [] : [countMismatch(client, counted)]),
      ...gaps.flatMap((gap) => gapFlags(gap, client)),
    ],
  };
}

/** Purchases that the nodes counted, without those that people sent from the shop's pages. */
export function countedOfLoad({ counts, visitors = 0 }: RunDocument): number {
  return counts.requests - visitors;
}

function gapAt(percentile: Gap["percentile"], document: RunDocument, client: ClientReport): Gap[] {
  const clientMs = client.latencyMs[percentile];
  const serverMs = document.latencyMs[percentile];
  if (clientMs === null || serverMs === null) return [];
  const lagMs = client.generatorLagP99Ms ?? 0;
  const unexplainedMs = Math.max(0, clientMs - serverMs - lagMs - networkMs(clientMs));
  return [{ percentile, clientMs, serverMs, unexplainedMs }];
}

function networkMs(clientMs: number): number {
  return Math.max(NETWORK_MS, clientMs * NETWORK_SHARE);
}

/** How late the generator may send purchases, at p99. k6 fails at the same limit: load-tests/lib/settings.js. */
export function latenessLimitMs({ vus, rate }: Pick<RunDocument["config"], "vus" | "rate">): number {
  const atOnce = rate === null ? (vus ?? 1) : 0;
  return Math.max(LATE_MS, atOnce * LATE_MS_PER_BUYER);
}

/** The generator sent the load so late that it was a different load. */
function isLate({ config }: RunDocument, { generatorLagP99Ms: lagMs = 0 }: ClientReport): boolean {
  return lagMs > latenessLimitMs(config);
}

/** The generator had no CPU time left, and buyers waited longer than every known cause explains. */
function isShortOfCpu(client: ClientReport, gaps: readonly Gap[]): boolean {
  const { generatorCpuPercent: usedPercent, generatorSparePercent: sparePercent } = client;
  if (usedPercent === undefined || sparePercent === undefined) return false;
  const usedAll = usedPercent >= ALL_OF_THE_CPU * (usedPercent + sparePercent);
  return usedAll && gaps.some(({ unexplainedMs }) => unexplainedMs > 0);
}

/** Why the generator fell behind, in one sentence. */
export function fellBehindSentence(document: RunDocument, client: ClientReport): string {
  const { generatorLagP99Ms: lagMs = 0, generatorCpuPercent: usedPercent } = client;
  const used = usedPercent === undefined ? "" : ` and used ${formatCount(usedPercent)} % of a core`;
  const reason = isLate(document, client)
    ? `it sent purchases up to ${durationText(lagMs)} late (p99, limit ${settingText(latenessLimitMs(document.config))})${used}, so the run did not get the load that was requested`
    : `it had no CPU time left${used}, and buyers waited longer than the nodes, its delay and the network explain`;
  return `The load generator fell behind: ${reason}.`;
}

export function countMismatch({ iterations }: ClientReport, counted: number): string {
  return `The load generator sent ${plural(iterations, "purchase")}, but the nodes counted ${formatCount(counted)}.`;
}

function gapFlags({ percentile, clientMs, serverMs, unexplainedMs }: Gap, client: ClientReport): string[] {
  const [seenByBuyers, seenByNodes] = [durationText(clientMs), durationText(serverMs)];
  if (unexplainedMs > 0) {
    const lag = durationText(client.generatorLagP99Ms ?? 0);
    return [
      `At ${percentile}, buyers waited ${seenByBuyers} but the nodes measured ${seenByNodes}: ${durationText(unexplainedMs)} more than the generator's delay (${lag}) and the network explain.`,
    ];
  }
  const isTooFast = serverMs - clientMs > Math.max(ROUNDING_MS, serverMs * ROUNDING_SHARE);
  if (!isTooFast) return [];
  return [
    `At ${percentile}, the nodes measured ${seenByNodes} but buyers only ${seenByBuyers}: an answer cannot arrive before it is sent.`,
  ];
}
