import type { Agreement, ClientReport, RunDocument } from "./document";

import { answeredOf } from "./latency-curve";

/** Whether the load generator and the store nodes tell of the same sale. See docs/decisions/124. */

/** A loopback round trip, the accept queue, and the answer waiting to be read, on a machine that is busy selling. */
const NETWORK_MS = 500;
/** The same as a share: with more buyers every queue on the way is longer. */
const NETWORK_SHARE = 0.25;
/** A histogram's two digits, and percentiles of small numbers. */
const IMPOSSIBLE_MS = 50;
const IMPOSSIBLE_SHARE = 0.1;
/** A pause of the machine may make everybody late once; this is no pause. */
const LATE_MS = 2_000;
/** Buyers who start at one instant leave one after the other; this is long for one of them, on a busy machine too. */
const LATE_MS_PER_BUYER = 2;
/** Of what there was for the generator: its own share and what nobody used. */
const ALL_OF_THE_PROCESSOR = 0.9;

const COMPARED = ["p50", "p99"] as const;
type Gap = Agreement["gaps"][number];

/** @param document with latencies as the nodes measured them, not yet replaced by the buyers' */
export function agreementOf(document: RunDocument, client: ClientReport): Agreement {
  const counted = countedOfLoad(document);
  // Who got no answer is in the nodes' figures and not in the generator's.
  const comparable = client.failedRequests === 0 && counted > 0;
  const gaps = comparable ? COMPARED.flatMap((percentile) => gapAt(percentile, document, client)) : [];
  return {
    answered: answeredOf(client),
    counted,
    serverLatencyMs: document.latencyMs,
    gaps,
    isStarved: isLate(document, client) || isShortOfProcessor(client, gaps),
    flags: [...countFlags(client, counted), ...gaps.flatMap((gap) => gapFlags(gap, client))],
  };
}

/** Purchases the nodes counted, without those that people sent from the shop's pages meanwhile. */
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

/** How late the generator may be with its purchases, at p99. k6 holds itself to it: load-tests/lib/settings.js. */
export function latenessLimitMs({ vus, rate }: Pick<RunDocument["config"], "vus" | "rate">): number {
  const atOnce = rate === null ? (vus ?? 1) : 0;
  return Math.max(LATE_MS, atOnce * LATE_MS_PER_BUYER);
}

/** Its rush was not the rush that was asked for. */
function isLate({ config }: RunDocument, { generatorLagP99Ms: lagMs = 0 }: ClientReport): boolean {
  return lagMs > latenessLimitMs(config);
}

/** It had nothing left to be faster with, and was slower than all that is known explains. */
function isShortOfProcessor(client: ClientReport, gaps: readonly Gap[]): boolean {
  const { generatorCpuPercent: usedPercent, generatorSparePercent: sparePercent } = client;
  if (usedPercent === undefined || sparePercent === undefined) return false;
  const tookAll = usedPercent >= ALL_OF_THE_PROCESSOR * (usedPercent + sparePercent);
  return tookAll && gaps.some(({ unexplainedMs }) => unexplainedMs > 0);
}

/** Why the generator counts as starved, in a sentence. */
export function starvedWords(document: RunDocument, client: ClientReport): string {
  const { generatorLagP99Ms: lagMs = 0, generatorCpuPercent: usedPercent } = client;
  const used = usedPercent === undefined ? "" : `, using ${Math.round(usedPercent)}% of a core`;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const said = isLate(document, client)
    ? `it sent purchases up to ${seconds(lagMs)} late (p99; ${seconds(latenessLimitMs(document.config))} are allowed)${used}, so this was not the rush that was asked for`
    : `it had all of the processor that was left to it${used}, and buyers waited longer than the nodes, its lateness and the network explain`;
  return `The load generator was starved: ${said}.`;
}

function countFlags(client: ClientReport, counted: number): string[] {
  if (client.iterations === counted) return [];
  return [`The load generator sent ${client.iterations} purchases, the nodes counted ${counted}.`];
}

function gapFlags({ percentile, clientMs, serverMs, unexplainedMs }: Gap, client: ClientReport): string[] {
  if (unexplainedMs > 0) {
    const late = Math.round(client.generatorLagP99Ms ?? 0);
    return [
      `At ${percentile} buyers waited ${Math.round(clientMs)} ms and the nodes say ${Math.round(serverMs)} ms: ${Math.round(unexplainedMs)} ms more than the generator's lateness (${late} ms) and the network explain.`,
    ];
  }
  const tooFast = serverMs - clientMs > Math.max(IMPOSSIBLE_MS, serverMs * IMPOSSIBLE_SHARE);
  if (!tooFast) return [];
  return [
    `At ${percentile} the nodes say ${Math.round(serverMs)} ms and buyers only ${Math.round(clientMs)} ms: nobody can be answered before the answer is made.`,
  ];
}
