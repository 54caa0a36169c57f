import type { ClientReport } from "@/lib/runs/client-report";
import type { RunDocument } from "@/lib/runs/document";
import { durationText, formatCount, NO_VALUE, plural } from "./format";

/** Whether a run had contention: without it, every lock appears safe. */
export interface Certificate {
  readonly isCertified: boolean;
  /** The certificate as text, most important sentence first. */
  readonly sentences: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string])[];
}

const UNKNOWN = "unknown";

type Measured = Pick<RunDocument, "contention" | "phasesMs" | "counts" | "config" | "client" | "agreement" | "status">;

export function certificateOf(document: Measured): Certificate {
  const { contention, phasesMs } = document;
  const { peakInFlight, peakWaiters, arrivalSkewMs, droppedIterations } = contention;
  return {
    isCertified: contention.certified,
    sentences: contention.certified ? certified(document) : notCertified(document),
    facts: [
      ["Peak in flight", formatCount(peakInFlight)],
      ["Peak waiting for the lock", formatCount(peakWaiters)],
      ["All buyers started within", arrivalSkewMs === null ? NO_VALUE : durationText(arrivalSkewMs)],
      ["Wait for a pooled connection, p99", durationText(phasesMs.poolWait.p99)],
      ["Purchases not sent", formatCount(droppedIterations)],
      ...(document.client === null ? [] : generatorFacts(document.client)),
    ],
  };
}

function generatorFacts(client: ClientReport): Certificate["facts"] {
  const { generatorLagP99Ms: lagMs, generatorCpuPercent: percent } = client;
  return [
    ["Load generator lag, p99", lagMs === undefined ? UNKNOWN : durationText(lagMs)],
    ["Load generator CPU", percent === undefined ? UNKNOWN : `${formatCount(percent)} % of a core`],
  ];
}

function certified({ contention, counts, phasesMs, agreement }: Measured): string[] {
  const { peakInFlight, peakWaiters, droppedIterations } = contention;
  const share = counts.requests > 0 ? Math.round((100 * peakInFlight) / counts.requests) : 0;
  const sentences = [
    `Up to ${formatCount(peakInFlight)} of ${plural(counts.requests, "purchase")} (${share} %) were in flight at once${peakWaiters > 0 ? `, ${formatCount(peakWaiters)} of them waiting for the lock` : ""}.`,
  ];
  const { poolWait, wait } = phasesMs;
  // A purchase without a connection has not requested the lock yet, so the pool caused the queue.
  if ((poolWait.p50 ?? 0) > (wait.p50 ?? 0) && (poolWait.p50 ?? 0) >= 1) {
    const lockWait = wait.p50 === null ? "" : `, compared with ${durationText(wait.p50)} for the lock`;
    sentences.push(
      `Purchases waited longer for a database connection than for the lock: median ${durationText(poolWait.p50)}${lockWait}.`,
    );
  }
  if (agreement?.isStarved)
    sentences.push("The load generator had too little CPU, so the nodes received a different load than configured.");
  if (droppedIterations !== null && droppedIterations > 0) {
    sentences.push(
      `The load generator did not send ${plural(droppedIterations, "purchase")}, so the load was lower than configured.`,
    );
  }
  return sentences;
}

function notCertified({ counts, contention }: Measured): string[] {
  if (counts.requests === 0) return ["No purchase reached a store node."];
  const { peakInFlight } = contention;
  const inFlight =
    peakInFlight < 2
      ? `At most ${plural(peakInFlight, "purchase")} of ${formatCount(counts.requests)} in flight at once.`
      : `Up to ${formatCount(peakInFlight)} of ${plural(counts.requests, "purchase")} were in flight at once, but the history does not show that any of them competed for the stock.`;
  return [`${inFlight} Without contention, this run does not test the strategy.`];
}
